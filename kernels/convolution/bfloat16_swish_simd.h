// Vector code for the end of convolutions of bfloat16: bias and swish.
#ifndef TENON_KERNELS_CONVOLUTION_BFLOAT16_SWISH_SIMD_H_
#define TENON_KERNELS_CONVOLUTION_BFLOAT16_SWISH_SIMD_H_

#include <cstddef>
#include <cstdint>

namespace tenon {

// out = swish(sums + bias), rounded to bfloat16, for rows of `columns` numbers; swish has a
// relative error below 2^-12.
struct Bfloat16Swish {
  const float* sums = nullptr;
  size_t sums_row = 0;
  const uint16_t* bias = nullptr;  // null: none
  uint16_t* out = nullptr;
  size_t out_row = 0;
  size_t rows = 0, columns = 0;
};
using Bfloat16SwishFn = void (*)(const Bfloat16Swish& part);
// Null if the target being used is not AVX-512. The CPU must have AVX-512 BF16.
Bfloat16SwishFn FindBfloat16Swish();

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_BFLOAT16_SWISH_SIMD_H_
