// Kernels of two inputs by the loops of plain_maps_simd.h and plain_loops_simd.h.
#ifndef TENON_KERNELS_ELEMENTWISE_PLAIN_BINARY_H_
#define TENON_KERNELS_ELEMENTWISE_PLAIN_BINARY_H_

#include <algorithm>
#include <memory>

#include "absl/status/statusor.h"
#include "kernels/elementwise/integer_division.h"
#include "kernels/elementwise/plain_loops_simd.h"
#include "kernels/elementwise/plain_maps_simd.h"
#include "kernels/elementwise/reference.h"

namespace tenon {

// The map of each row of a tile, from elements of T to elements of R.
template <typename T, typename R>
void MapRows(PairMapFn map, const Tile& tile, const void* a, const void* b, void* out) {
  const T* x = static_cast<const T*>(a) + tile.offset[0];
  const T* y = static_cast<const T*>(b) + tile.offset[1];
  R* to = static_cast<R*>(out) + tile.out;
  for (int64_t row = 0; row < tile.rows; ++row) {
    map(x, static_cast<size_t>(tile.col_stride[0]), y, static_cast<size_t>(tile.col_stride[1]), to,
        static_cast<size_t>(tile.cols));
    x += tile.row_stride[0];
    y += tile.row_stride[1];
    to += tile.cols;
  }
}

template <PlainBinary op, typename T>
const char* PlainBinaryLoop(const Tile& tile, const void* a, const void* b, void* out) {
  static const PlainBinaryFn map = FindPlainBinary(op);
  const T* y = static_cast<const T*>(b) + tile.offset[1];
  for (int64_t row = 0; kIsInt<T> && row < tile.rows; ++row, y += tile.row_stride[1]) {
    const T* const end = y + (tile.col_stride[1] == 0 ? 1 : tile.cols);
    if (std::find(y, end, T(0)) != end) return kNotZero(T(0));
  }
  MapRows<T, T>(map, tile, a, b, out);
  return nullptr;
}

template <PairMap op, typename T, typename R>
const char* PairMapLoop(const Tile& tile, const void* a, const void* b, void* out) {
  static const PairMapFn map = FindPairMap(op, DTypeTraits<T>::value);
  MapRows<T, R>(map, tile, a, b, out);
  return nullptr;
}

// A shift of integers.
template <PairMap op>
absl::StatusOr<std::unique_ptr<Kernel>> VectorShift(PrepareContext& p) {
  return DispatchType(Ints{}, p.input_dtype(0), [&]<typename T>() {
    return MakeBinaryKernel(p, &PairMapLoop<op, T, T>, /*same_size=*/true);
  });
}

// A comparison of real numbers by `general`; those of 64 bits in vector code.
template <PairMap op, auto general>
absl::StatusOr<std::unique_ptr<Kernel>> Comparison(PrepareContext& p) {
  BinaryLoop loop = nullptr;
  VisitTypes(TypeList<int64_t, double>{}, p.input_dtype(0),
             [&]<typename T>() { loop = &PairMapLoop<op, T, bool>; });
  if (loop == nullptr) return Binary<general, RealNumbers>(p);
  return MakeBinaryKernel(p, loop, /*same_size=*/false);
}

// A division of numbers of one of `Types` by `general`; that of 32-bit integers in vector code.
template <PlainBinary op, auto general, typename Types>
absl::StatusOr<std::unique_ptr<Kernel>> CheckedDivision(PrepareContext& p) {
  if (p.input_dtype(0) != DType::kInt32) return CheckedBinary<general, kNotZero, Types>(p);
  return MakeBinaryKernel(p, &PlainBinaryLoop<op, int32_t>, /*same_size=*/true);
}

}  // namespace tenon

#endif  // TENON_KERNELS_ELEMENTWISE_PLAIN_BINARY_H_
