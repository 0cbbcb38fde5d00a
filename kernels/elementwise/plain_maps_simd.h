// Maps of elements that are no rows of the table of elementwise ops.
#ifndef TENON_KERNELS_ELEMENTWISE_PLAIN_MAPS_SIMD_H_
#define TENON_KERNELS_ELEMENTWISE_PLAIN_MAPS_SIMD_H_

#include <cstddef>
#include <cstdint>

namespace tenon {

// Bounds of n elements: one of each, or one for all (a step of 0).
template <typename T>
struct ClipBounds {
  const T *low = nullptr, *high = nullptr;
  size_t low_step = 0, high_step = 0;
};
// y = max(min(x, high), low) in TensorFlow's order: NaN stays. y may be x.
template <typename T>
using ClipFn = void (*)(const T* x, const ClipBounds<T>& bounds, T* y, size_t n);
// T: float, double, and integers of 32 and 64 bits with a sign.
template <typename T>
ClipFn<T> FindClip();

// out = op(a, b) for n elements of each, or one for all (a step of 0).
enum class PlainBinary {
  kMulNoNan,  // floats: 0 where b is 0, whatever a
  // 32-bit integers with a sign; b is not 0. The lowest over -1 is itself.
  kTruncatedQuotient,
  kFloorQuotient,
  kTruncatedRemainder,
  kFloorRemainder,
};
using PlainBinaryFn = void (*)(const void* a, size_t a_step, const void* b, size_t b_step,
                               void* out, size_t n);
PlainBinaryFn FindPlainBinary(PlainBinary op);

// y = the number of bits of x that are 1.
using CountBitsFn = void (*)(const void* x, uint8_t* y, size_t n);
CountBitsFn FindCountBits(size_t bytes);  // of an element: 1, 2, 4, 8

}  // namespace tenon

#endif  // TENON_KERNELS_ELEMENTWISE_PLAIN_MAPS_SIMD_H_
