// Reference kernels of unary and binary elementwise ops, each from one captureless lambda:
//
//   .reference = Unary<[](auto x) { return std::sqrt(x); }, FloatsAndComplexes>,
//   .reference = Binary<[](auto a, auto b) { return WrapAdd(a, b); }, Numbers>,
//
// For half and bfloat16, the lambda gets float. A bool result makes a bool output.
#ifndef TENON_KERNELS_ELEMENTWISE_REFERENCE_H_
#define TENON_KERNELS_ELEMENTWISE_REFERENCE_H_

#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "kernels/elementwise/reference_broadcast.h"
#include "kernels/interface/kernel.h"
#include "kernels/interface/types.h"

namespace tenon {

struct UnaryLoop {
  void (*run)(const void* x, void* y, int64_t n) = nullptr;
  int64_t in_bytes = 0;  // of one element
  int64_t out_bytes = 0;
};
// Error text, or null.
using BinaryLoop = const char* (*)(const Tile& tile, const void* a, const void* b, void* out);

// The assumed time per element, for choosing how finely a loop is split: arithmetic costs less,
// functions more, series much more.
inline constexpr double kElementNs = 1, kSeriesNs = 50;

// A loop over input 0's elements. `implementation`: what the kernel says that it is.
absl::StatusOr<std::unique_ptr<Kernel>> MakeUnaryKernel(PrepareContext& p, const UnaryLoop& loop,
                                                        const char* implementation = "reference");
// Inputs 0 and 1, broadcast. `same_size`: input and output elements have the same size.
absl::StatusOr<std::unique_ptr<Kernel>> MakeBinaryKernel(PrepareContext& p, BinaryLoop loop,
                                                         bool same_size,
                                                         const char* implementation = "reference",
                                                         double ns = kElementNs);
absl::StatusOr<std::unique_ptr<Kernel>> MakeBinaryKernel(PrepareContext& p, BinaryLoop loop,
                                                         Broadcast space,
                                                         const char* implementation = "reference",
                                                         double ns = kElementNs);

// Splits a tile among threads; `ns` is the cost per element.
void ForTileParts(int threads, const Tile& tile, double ns,
                  absl::FunctionRef<void(const Tile& part)> f);

namespace elementwise {

// The type in which a result R, computed from elements of T, is stored.
template <typename T, typename R>
using Stored =
    std::conditional_t<std::is_same_v<R, bool>, bool,
                       std::conditional_t<kIsComplex<T> && std::is_floating_point_v<R>, R, T>>;

template <auto op, typename T>
using UnaryResult = Stored<T, decltype(op(ComputeType<T>{}))>;
template <auto op, typename T>
using BinaryResult = Stored<T, decltype(op(ComputeType<T>{}, ComputeType<T>{}))>;

template <auto op, typename T>
void UnaryLoopOf(const void* x, void* y, int64_t n) {
  using R = UnaryResult<op, T>;
  const T* in = static_cast<const T*>(x);
  R* out = static_cast<R*>(y);
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<R>(op(ToCompute(in[i])));
}

template <auto op, typename T>
const char* BinaryLoopOf(const Tile& tile, const void* a, const void* b, void* out) {
  using R = BinaryResult<op, T>;
  const T* pa = static_cast<const T*>(a) + tile.offset[0];
  const T* pb = static_cast<const T*>(b) + tile.offset[1];
  R* po = static_cast<R*>(out) + tile.out;
  const int64_t n = tile.cols;
  for (int64_t r = 0; r < tile.rows; ++r) {
    if (tile.col_stride[0] == 1 && tile.col_stride[1] == 1) {
      for (int64_t i = 0; i < n; ++i)
        po[i] = static_cast<R>(op(ToCompute(pa[i]), ToCompute(pb[i])));
    } else if (tile.col_stride[0] == 1) {
      const auto vb = ToCompute(*pb);
      for (int64_t i = 0; i < n; ++i) po[i] = static_cast<R>(op(ToCompute(pa[i]), vb));
    } else if (tile.col_stride[1] == 1) {
      const auto va = ToCompute(*pa);
      for (int64_t i = 0; i < n; ++i) po[i] = static_cast<R>(op(va, ToCompute(pb[i])));
    } else {
      const R v = static_cast<R>(op(ToCompute(*pa), ToCompute(*pb)));
      for (int64_t i = 0; i < n; ++i) po[i] = v;
    }
    pa += tile.row_stride[0];
    pb += tile.row_stride[1];
    po += n;
  }
  return nullptr;
}

// Refuses a tile if `bad` is true for some element of b.
template <auto op, auto bad, typename T>
const char* CheckedBinaryLoopOf(const Tile& tile, const void* a, const void* b, void* out) {
  const T* row = static_cast<const T*>(b) + tile.offset[1];
  for (int64_t r = 0; r < tile.rows; ++r, row += tile.row_stride[1]) {
    const int64_t n = tile.col_stride[1] == 0 ? 1 : tile.cols;
    for (int64_t i = 0; i < n; ++i) {
      if (const char* error = bad(row[i])) return error;
    }
  }
  return BinaryLoopOf<op, T>(tile, a, b, out);
}

}  // namespace elementwise

template <auto op, typename Types>
absl::StatusOr<std::unique_ptr<Kernel>> Unary(PrepareContext& p) {
  UnaryLoop loop;
  VisitTypes(Types{}, p.input_dtype(0), [&]<typename T>() {
    loop = {&elementwise::UnaryLoopOf<op, T>, sizeof(T), sizeof(elementwise::UnaryResult<op, T>)};
  });
  if (loop.run == nullptr) return NoKernelFor(p.input_dtype(0));
  return MakeUnaryKernel(p, loop);
}

template <auto op, typename Types, double ns = kElementNs>
absl::StatusOr<std::unique_ptr<Kernel>> Binary(PrepareContext& p) {
  BinaryLoop loop = nullptr;
  bool same_size = false;
  VisitTypes(Types{}, p.input_dtype(0), [&]<typename T>() {
    loop = &elementwise::BinaryLoopOf<op, T>;
    same_size = sizeof(T) == sizeof(elementwise::BinaryResult<op, T>);
  });
  if (loop == nullptr) return NoKernelFor(p.input_dtype(0));
  return MakeBinaryKernel(p, loop, same_size, "reference", ns);
}

// Like Binary; `bad(b)` returns an error text for elements of input 1 that integer types refuse.
template <auto op, auto bad, typename Types>
absl::StatusOr<std::unique_ptr<Kernel>> CheckedBinary(PrepareContext& p) {
  BinaryLoop loop = nullptr;
  VisitTypes(Types{}, p.input_dtype(0), [&]<typename T>() {
    if constexpr (kIsInt<T>) {
      loop = &elementwise::CheckedBinaryLoopOf<op, bad, T>;
    } else {
      loop = &elementwise::BinaryLoopOf<op, T>;
    }
  });
  if (loop == nullptr) return NoKernelFor(p.input_dtype(0));
  return MakeBinaryKernel(p, loop, true);
}

}  // namespace tenon

#endif  // TENON_KERNELS_ELEMENTWISE_REFERENCE_H_
