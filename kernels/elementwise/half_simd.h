// Conversions between half and float, compiled for each instruction set.
#ifndef TENON_KERNELS_ELEMENTWISE_HALF_SIMD_H_
#define TENON_KERNELS_ELEMENTWISE_HALF_SIMD_H_

#include <cstddef>
#include <cstdint>

namespace tenon {

// IEEE binary16 as bits. Narrowing rounds to nearest even; NaN stays NaN.
void WidenHalf(const uint16_t* from, float* to, size_t n);
void NarrowToHalf(const float* from, uint16_t* to, size_t n);

}  // namespace tenon

#endif  // TENON_KERNELS_ELEMENTWISE_HALF_SIMD_H_
