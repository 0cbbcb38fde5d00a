// The largest magnitude in an array, as a bit pattern.
#ifndef TENON_KERNELS_CONTRACTION_MAGNITUDE_SIMD_H_
#define TENON_KERNELS_CONTRACTION_MAGNITUDE_SIMD_H_

#include <cstddef>
#include <cstdint>

namespace tenon {

// The largest x[i] with its sign bit cleared, where x are the bit patterns of n floats, or of n
// bfloat16 values. Such patterns are ordered as the magnitudes are, with infinity and then NaN
// above every number. 0 if n is 0.
uint32_t LargestMagnitude(const uint32_t* x, size_t n);
uint16_t LargestMagnitude(const uint16_t* x, size_t n);

}  // namespace tenon

#endif  // TENON_KERNELS_CONTRACTION_MAGNITUDE_SIMD_H_
