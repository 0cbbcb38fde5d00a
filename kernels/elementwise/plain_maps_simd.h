// Maps of elements that are no rows of the table of elementwise ops.
#ifndef TENON_KERNELS_ELEMENTWISE_PLAIN_MAPS_SIMD_H_
#define TENON_KERNELS_ELEMENTWISE_PLAIN_MAPS_SIMD_H_

#include <cstddef>
#include <cstdint>

namespace tenon {

// y = max(min(x, high), low) in TensorFlow's order: NaN stays. y may be x.
template <typename T>
using ClipFn = void (*)(const T* x, T low, T high, T* y, size_t n);
// T: float, double, and integers of 32 and 64 bits with a sign.
template <typename T>
ClipFn<T> FindClip();

// y = the number of bits of x that are 1.
using CountBitsFn = void (*)(const void* x, uint8_t* y, size_t n);
CountBitsFn FindCountBits(size_t bytes);  // of an element: 1, 2, 4, 8

}  // namespace tenon

#endif  // TENON_KERNELS_ELEMENTWISE_PLAIN_MAPS_SIMD_H_
