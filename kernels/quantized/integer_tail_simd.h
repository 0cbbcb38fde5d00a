// Vector code for what follows the sums of 8-bit products: the Epilogue of
// kernels/quantized/quantized_fusion.h, for results that are not int32.
#ifndef TENON_KERNELS_QUANTIZED_INTEGER_TAIL_SIMD_H_
#define TENON_KERNELS_QUANTIZED_INTEGER_TAIL_SIMD_H_

#include <cstddef>
#include <cstdint>

namespace tenon {

enum class TailSummand { kNone, kSigned, kUnsigned };
enum class TailResult { kSigned, kUnsigned, kFloat };

// real = (sum + bias[c]) * scale[c] + sum_scale * summand; result = max(real, 0) with relu, or
// swish(real) with swish. Integers are that (times swish_scale with swish) plus zero, rounded to
// even and saturated; NaN gives any integer.
struct IntegerTail {
  const float* scale = nullptr;  // of all channels
  const float* bias = nullptr;
  float sum_scale = 0;
  bool relu = false;
  float swish_scale = 1;
  float zero = 0;
};

// Rows of sums of the channels [channel, channel + channels). Rows of summand and result are
// `row` elements apart; they may be the same memory.
struct TailPart {
  const int32_t* sums = nullptr;
  size_t sums_row = 0;
  const void* summand = nullptr;  // of the first element
  void* result = nullptr;
  size_t row = 0;
  size_t rows = 0, channel = 0, channels = 0;
};
using IntegerTailFn = void (*)(const IntegerTail& tail, const TailPart& part);
IntegerTailFn FindIntegerTail(TailSummand summand, TailResult result, bool swish);

}  // namespace tenon

#endif  // TENON_KERNELS_QUANTIZED_INTEGER_TAIL_SIMD_H_
