// Conversions between quantized integers and the real numbers that they represent, given the range
// [min, max] that all values of the integer type T cover. Roundings are in TensorFlow's order, so
// that results agree to the bit.
#ifndef TENON_KERNELS_QUANTIZED_RANGE_MATH_H_
#define TENON_KERNELS_QUANTIZED_RANGE_MATH_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace tenon {

struct FloatRange {
  float min = 0;
  float max = 0;
};

// The larger absolute value.
inline float Magnitude(float a, float b) { return std::max(std::fabs(a), std::fabs(b)); }
inline float Magnitude(FloatRange r) { return Magnitude(r.min, r.max); }

// Truncates towards zero; values that int32 or int64 cannot hold, including NaN, become the lowest
// (as on x86).
inline int32_t TruncateToInt32(float v) {
  constexpr float kLimit = 2147483648.0f;
  return v >= -kLimit && v < kLimit ? static_cast<int32_t>(v) : INT32_MIN;
}
inline int64_t TruncateToInt64(double v) {
  constexpr double kLimit = 9223372036854775808.0;
  return v >= -kLimit && v < kLimit ? static_cast<int64_t>(v) : INT64_MIN;
}
// Ranges may be arbitrary: sums derived from them wrap around.
inline int64_t AddWrapped(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
template <typename T>
T TruncateTo(float v) {
  return static_cast<T>(TruncateToInt32(v));
}

// The arguments of min and max are in TensorFlow's order: NaN stays NaN.
inline float Clamp(float v, float low, float high) { return std::max(std::min(v, high), low); }

template <typename T>
constexpr double kSteps = static_cast<double>((int64_t{1} << (8 * sizeof(T))) - 1);
template <typename T>
constexpr int64_t kLowest = std::numeric_limits<T>::lowest();
template <typename T>
constexpr int64_t kHighest = std::numeric_limits<T>::max();

// ---- one value at a time, in double ----

template <typename T>
int64_t QuantizeUnclamped(float v, FloatRange r) {
  if (r.min == r.max) return kLowest<T>;
  const double range = static_cast<double>(r.max - r.min) * ((kSteps<T> + 1) / kSteps<T>);
  const double scale = (kSteps<T> + 1) / range;
  return AddWrapped(TruncateToInt64(std::round(v * scale) - std::round(r.min * scale)), kLowest<T>);
}

template <typename T>
T QuantizeValue(float v, FloatRange r) {
  return static_cast<T>(std::clamp(QuantizeUnclamped<T>(v, r), kLowest<T>, kHighest<T>));
}

template <typename T>
float DequantizeValue(T q, FloatRange r) {
  if (r.min == r.max) return r.min;
  const double range = static_cast<double>(r.max - r.min) * ((kSteps<T> + 1) / kSteps<T>);
  const double scale = range / (kSteps<T> + 1);
  const float float_scale = static_cast<float>(scale);
  const double min = static_cast<double>(std::round(r.min / float_scale) * float_scale);
  return static_cast<float>(min +
                            (static_cast<double>(q) - static_cast<double>(kLowest<T>)) * scale);
}

// The scale of T.
template <typename T>
float OneLevel(FloatRange r) {
  return (r.max - r.min) / static_cast<float>(kHighest<T> - kLowest<T>);
}

// The range of int32 products of values of two ranges.
template <typename A, typename B>
FloatRange ProductRange(FloatRange a, FloatRange b) {
  const float level = OneLevel<A>(a) * OneLevel<B>(b);
  return {level * static_cast<float>(kLowest<int32_t>),
          level * static_cast<float>(kHighest<int32_t>)};
}

// ---- many values, in float (MIN_FIRST) ----

template <typename T>
class Dequantizer {
 public:
  explicit Dequantizer(FloatRange r)
      : scale_(static_cast<float>((r.max - r.min) / kSteps<T>)),
        offset_((r.max == r.min ? r.min : std::round(r.min / scale_) * scale_) -
                static_cast<float>(kLowest<T>) * scale_) {}
  float operator()(T q) const { return offset_ + static_cast<float>(q) * scale_; }
  float scale() const { return scale_; }
  float offset() const { return offset_; }

 private:
  const float scale_, offset_;
};

template <typename T>
class Quantizer {
 public:
  explicit Quantizer(FloatRange r)
      : scale_(r.max == r.min ? 0.0f : static_cast<float>(kSteps<T> / (r.max - r.min))),
        offset_(std::round(r.min * scale_) - static_cast<float>(kLowest<T>)) {}
  T operator()(float v) const {
    // Bounds that both a float and an int32 can hold exactly.
    constexpr float kLow = std::max(static_cast<float>(kLowest<T>), -2147483648.0f);
    constexpr float kHigh = std::min(static_cast<float>(kHighest<T>), 2147483520.0f);
    return TruncateTo<T>(std::min(std::max(std::round(v * scale_) - offset_, kLow), kHigh));
  }
  float scale() const { return scale_; }
  float offset() const { return offset_; }

 private:
  const float scale_, offset_;
};

}  // namespace tenon

#endif  // TENON_KERNELS_QUANTIZED_RANGE_MATH_H_
