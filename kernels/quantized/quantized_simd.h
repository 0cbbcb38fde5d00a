// Loops of quantized ops, with the roundings of TensorFlow's kernels.
#ifndef TENON_KERNELS_QUANTIZED_QUANTIZED_SIMD_H_
#define TENON_KERNELS_QUANTIZED_QUANTIZED_SIMD_H_

#include <cstddef>
#include <cstdint>

namespace tenon {

// Two rows of bytes; a step of 0 repeats the first byte, others are 1.
struct BytePairs {
  const uint8_t *a = nullptr, *b = nullptr;
  size_t a_step = 1, b_step = 1;
};

// Integers wrap around.
struct BytesToIntsCode {
  // (a - a_zero) * (b - b_zero)
  void (*multiply)(const BytePairs& x, int32_t a_zero, int32_t b_zero, int32_t* out, size_t n);
  // a * a_step + b * b_step + offset
  void (*add)(const BytePairs& x, int32_t a_step, int32_t b_step, int32_t offset, int32_t* out,
              size_t n);
};
BytesToIntsCode FindBytesToInts();

// The least and the largest element, from those that are given; NaN is ignored.
template <typename T>
struct Extremes {
  T low, high;
};
template <typename T>
using ExtremesFn = Extremes<T> (*)(const T* x, size_t n, Extremes<T> before);
// T: float, double, int32_t.
template <typename T>
ExtremesFn<T> FindExtremes();

// y = round(clamp(x) * scale) * inverse; NaN stays.
template <typename T>
struct RoundTripMap {
  bool clamp = false, half_up = false;  // half_up: floor(v + 1/2), otherwise halves to even
  T min = 0, max = 0, scale = 1, inverse = 1;
};
template <typename T>
using RoundTripFn = void (*)(const RoundTripMap<T>& map, const T* x, T* y, size_t n);
// T: float, double.
template <typename T>
RoundTripFn<T> FindRoundTrip();

// The same for n elements, each with its own parameters.
template <typename T>
struct RoundTripColumns {
  bool clamp = false, half_up = false;
  const T *min = nullptr, *max = nullptr, *scale = nullptr, *inverse = nullptr;
};
template <typename T>
using RoundTripColumnsFn = void (*)(const RoundTripColumns<T>& map, const T* x, T* y, size_t n);
template <typename T>
RoundTripColumnsFn<T> FindRoundTripColumns();

// y = the clamped sum of zero and floor(x * inverse + 1/2); see QuantizeUniformly.
struct UniformMap {
  float inverse = 1;
  int32_t zero = 0, low = 0, high = 0;
};
template <typename T>
using UniformQuantizeFn = void (*)(const UniformMap& map, const float* x, T* y, size_t n);
// T: int8_t, int32_t.
template <typename T>
UniformQuantizeFn<T> FindUniformQuantize();

// The same for n elements, each with its own inverse and zero.
struct UniformColumns {
  const float* inverse = nullptr;
  const int32_t* zero = nullptr;
  int32_t low = 0, high = 0;
};
template <typename T>
using UniformColumnsFn = void (*)(const UniformColumns& map, const float* x, T* y, size_t n);
template <typename T>
UniformColumnsFn<T> FindUniformQuantizeColumns();

// y = clamp(round((x * scale + offset) * factor) - zero, low, high), rounded with halves away from
// 0: a Dequantizer and a Quantizer. Low and high are integers of 8 bits. NaN gives 0.
struct RequantizeMap {
  float scale = 1, offset = 0, factor = 1, zero = 0, low = -128, high = 127;
};
using RequantizeFn = void (*)(const RequantizeMap& map, const int32_t* x, uint8_t* y, size_t n);
RequantizeFn FindRequantize();
// y = clamp(round(x * scale), low, high) for n elements, each with its own scale, rounded with
// halves to even.
struct RequantizeColumns {
  const float* scale = nullptr;
  float low = -128, high = 127;
};
using RequantizeColumnsFn = void (*)(const RequantizeColumns& map, const int32_t* x, uint8_t* y,
                                     size_t n);
RequantizeColumnsFn FindRequantizeColumns();

// y = clamp(((x * scale >> 32) + offset) >> 16, 0, 255), for 0 <= scale < 2^31 and an offset of at
// most 2^30 in magnitude.
struct FixedPointMap {
  int32_t scale = 0, offset = 0;
};
using FixedPointFn = void (*)(const FixedPointMap& map, const int32_t* x, uint8_t* y, size_t n);
FixedPointFn FindFixedPointToBytes();

// The gradient of clipping x to [low, high]: dx = dy times 1 in the range and 0 elsewhere. What is
// below and above of it is summed.
struct RangeSlopes {
  float below = 0, above = 0;
};
using RangeGradientFn = RangeSlopes (*)(float low, float high, const float* dy, const float* x,
                                        float* dx, size_t n);
RangeGradientFn FindRangeGradient();

}  // namespace tenon

#endif  // TENON_KERNELS_QUANTIZED_QUANTIZED_SIMD_H_
