// Loops between floats and 8-bit integers, with the rounding of the reference kernels.
#ifndef TENON_KERNELS_ELEMENTWISE_QUANTIZE_SIMD_H_
#define TENON_KERNELS_ELEMENTWISE_QUANTIZE_SIMD_H_

#include <cstddef>
#include <cstdint>

namespace tenon {

enum class EightBits { kSigned, kUnsigned };

// y = round((clamp(x, low, high) - origin) * scale + zero); NaN gives 0. Low and high must map to
// values of the integer type.
struct QuantizeMap {
  enum class Round { kHalfToEven, kHalfAway, kDown };  // kDown: for non-negative numbers
  float low, high, scale;
  Round round = Round::kHalfToEven;
  float origin = 0, zero = 0;
};
using QuantizeFn = void (*)(const QuantizeMap& map, const float* x, void* y, size_t n);
QuantizeFn FindQuantize(EightBits type);

// y = (x + half) * scale + offset.
struct DequantizeMap {
  float half, scale, offset;
};
using DequantizeFn = void (*)(const DequantizeMap& map, const void* x, float* y, size_t n);
DequantizeFn FindDequantize(EightBits type);

// y = floor(s - zero + 0.5) * scale with s = (clamp(x, low, high) - low) * inverse, or divided by
// scale.
struct StepsMap {
  float low, high, scale, inverse, zero;
  bool divide;
};
using RoundToStepsFn = void (*)(const StepsMap& map, const float* x, float* y, size_t n);
RoundToStepsFn FindRoundToSteps();

// The same (never divided) for n elements, each with its own parameters.
struct StepsColumns {
  const float *low, *high, *scale, *inverse, *zero;
};
using RoundColumnsFn = void (*)(const StepsColumns& map, const float* x, float* y, size_t n);
RoundColumnsFn FindRoundColumns();

// y = clamp(a * a_scale + b * b_scale + offset, low, high), rounded to even; low and high are
// values of y's type.
struct AddIntegersMap {
  float a_scale, b_scale, offset, low, high;
};
using AddIntegersFn = void (*)(const AddIntegersMap& map, const void* a, const void* b, void* y,
                               size_t n);
AddIntegersFn FindAddIntegers(EightBits a, EightBits b, EightBits y);

// sums[i] += x[i].
using SumIntegersFn = void (*)(const void* x, int32_t* sums, size_t n);
SumIntegersFn FindSumIntegers(EightBits type);

}  // namespace tenon

#endif  // TENON_KERNELS_ELEMENTWISE_QUANTIZE_SIMD_H_
