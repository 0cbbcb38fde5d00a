// Transposes 2-D planes of 4-byte elements.
#ifndef TENON_KERNELS_LAYOUT_TRANSPOSE_SIMD_H_
#define TENON_KERNELS_LAYOUT_TRANSPOSE_SIMD_H_

#include <cstdint>

namespace tenon {

// to[c * to_stride + r] = from[r * from_stride + c] for r in [0, rows), c in [0, columns).
using TransposeFn = void (*)(const uint32_t* from, int64_t from_stride, uint32_t* to,
                             int64_t to_stride, int64_t rows, int64_t columns);
TransposeFn FindTranspose();

}  // namespace tenon

#endif  // TENON_KERNELS_LAYOUT_TRANSPOSE_SIMD_H_
