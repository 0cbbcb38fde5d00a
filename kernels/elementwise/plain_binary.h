// Kernels of two inputs by the loops of plain_maps_simd.h.
#ifndef TENON_KERNELS_ELEMENTWISE_PLAIN_BINARY_H_
#define TENON_KERNELS_ELEMENTWISE_PLAIN_BINARY_H_

#include <algorithm>
#include <memory>

#include "absl/status/statusor.h"
#include "kernels/elementwise/integer_division.h"
#include "kernels/elementwise/plain_maps_simd.h"
#include "kernels/elementwise/reference.h"

namespace tenon {

template <PlainBinary op, typename T>
const char* PlainBinaryLoop(const Tile& tile, const void* a, const void* b, void* out) {
  static const PlainBinaryFn map = FindPlainBinary(op);
  const T* x = static_cast<const T*>(a) + tile.offset[0];
  const T* y = static_cast<const T*>(b) + tile.offset[1];
  T* to = static_cast<T*>(out) + tile.out;
  for (int64_t row = 0; row < tile.rows; ++row) {
    const T* const end = y + (tile.col_stride[1] == 0 ? 1 : tile.cols);
    if (kIsInt<T> && std::find(y, end, T(0)) != end) return kNotZero(T(0));
    map(x, static_cast<size_t>(tile.col_stride[0]), y, static_cast<size_t>(tile.col_stride[1]), to,
        static_cast<size_t>(tile.cols));
    x += tile.row_stride[0];
    y += tile.row_stride[1];
    to += tile.cols;
  }
  return nullptr;
}

// A division of numbers of one of `Types` by `general`; that of 32-bit integers in vector code.
template <PlainBinary op, auto general, typename Types>
absl::StatusOr<std::unique_ptr<Kernel>> CheckedDivision(PrepareContext& p) {
  if (p.input_dtype(0) != DType::kInt32) return CheckedBinary<general, kNotZero, Types>(p);
  return MakeBinaryKernel(p, &PlainBinaryLoop<op, int32_t>, /*same_size=*/true);
}

}  // namespace tenon

#endif  // TENON_KERNELS_ELEMENTWISE_PLAIN_BINARY_H_
