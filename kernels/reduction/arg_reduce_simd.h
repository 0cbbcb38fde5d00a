// Indices of the largest or smallest elements of rows and columns, the first ones if several are
// equal. A NaN is never chosen over a number.
#ifndef TENON_KERNELS_REDUCTION_ARG_REDUCE_SIMD_H_
#define TENON_KERNELS_REDUCTION_ARG_REDUCE_SIMD_H_

#include <cstddef>
#include <cstdint>

namespace tenon {

// Elements are float or bfloat16 bits, as the function that was found for them says.
struct ArgReduceLoops {
  // The index of one of n >= 1 contiguous values.
  size_t (*row)(const void* x, size_t n);
  // out[c] = the index r of one of x[r * stride + c], r in [0, rows), rows >= 1, for c in
  // [0, columns).
  void (*columns)(const void* x, int32_t rows, int64_t stride, size_t columns, int32_t* out);
};
enum class ArgElement { kFloat, kBfloat16 };
ArgReduceLoops FindArgReduceLoops(ArgElement element, bool largest);

}  // namespace tenon

#endif  // TENON_KERNELS_REDUCTION_ARG_REDUCE_SIMD_H_
