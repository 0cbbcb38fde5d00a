// The ops after the int32 sums of a quantized convolution or matrix product: bias, a summand, relu
// or swish, and requantization to the result's range. One description for every op that fuses some
// of them, for reference and accelerated kernels.
//
// Data are 8-bit integers q with range [min, max] that represent q * scale, where scale =
// max(|min|, |max|) / 255 (unsigned) or / 127; weights likewise, with one range for all or one per
// output channel. A sum of products therefore represents sum * unit, where unit = data scale *
// weights scale.
#ifndef TENON_KERNELS_QUANTIZED_QUANTIZED_FUSION_H_
#define TENON_KERNELS_QUANTIZED_QUANTIZED_FUSION_H_

#include <vector>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"
#include "kernels/quantized/range_math.h"

namespace tenon {

struct QuantizedFusion {
  enum class Sum { kNone, kFloat, kQuantized };
  enum class Result { kInt32, kRequantized, kDequantized };

  bool bias = false;
  Sum sum = Sum::kNone;
  bool relu = false;
  bool swish = false;  // x * sigmoid(x); not with int32 results
  Result result = Result::kInt32;
  // The data's zero point, so that sums are of (q - data_zero) * weights, and the zero point that
  // is added to an 8-bit result after the activation.
  int32_t data_zero = 0, result_zero = 0;
  // The order of inputs: bias and summand before all ranges (the ops with `fused_ops`), or the
  // summand and its range after the other ranges.
  bool ranges_last = false;
};

// The position of each argument among an op's inputs. A range is two inputs, min and max. -1:
// absent.
struct QuantizedInputs {
  int data = 0;
  int weights = 1;
  int bias = -1;
  int data_range = -1;
  int weights_range = -1;
  int result_range = -1;
  int summand = -1;
  int summand_range = -1;
  int count = 0;
};
QuantizedInputs InputsOf(const QuantizedFusion& fusion);

// Everything except the sums themselves. Pointers are inputs of the op.
struct FusionValues {
  DType data_dtype = DType::kQuint8;
  DType bias_dtype = DType::kFloat;     // float, or qint32 in units of the sums
  DType summand_dtype = DType::kFloat;  // float, qint8, quint8
  DType result_dtype = DType::kQint32;
  FloatRange data;
  const float* weights_min = nullptr;
  const float* weights_max = nullptr;
  int64_t weights_ranges = 1;
  const void* bias = nullptr;
  FloatRange result;
  FloatRange summand;
  int64_t channels = 0;
  // The data's lowest integer represents data.min (MIN_FIRST), instead of 0 representing 0: a float
  // bias compensates the difference, which is this many times the sum of the channel's weights.
  bool min_first = false;
  const int32_t* weight_sums = nullptr;
};

// result = relu((sum + bias[c]) * scale[c] + sum_scale[c] * summand), rounded to even, saturated.
// With swish: the same without relu is a real number x, and result = swish_scale * swish(x). The
// result's zero point is added before rounding. scale, sum_scale: one value, or one per channel;
// bias: none, or one per channel. int32 results have a scale of 1 and integers for the bias, so
// that they are exact.
struct Epilogue {
  std::vector<float> scale;
  std::vector<float> bias;
  std::vector<float> sum_scale;
  float swish_scale = 1;
};
Epilogue MakeEpilogue(const QuantizedFusion& fusion, const FusionValues& v);

// Converts `rows` x channels sums to results.
void ApplyEpilogue(const QuantizedFusion& fusion, const FusionValues& v, const Epilogue& e,
                   const int32_t* sums, const void* summand, int64_t rows, void* result);

// The range that the op outputs with its result; for int32 results, as many as there are weight
// ranges, otherwise one.
std::vector<FloatRange> ResultRanges(const QuantizedFusion& fusion, const FusionValues& v);

void SetRanges(RunContext& r, const std::vector<FloatRange>& ranges);

// The values that `get(input)` returns; null if not known.
template <typename Get>
void GatherRanges(const QuantizedFusion& fusion, const Get& get, FusionValues& v) {
  const QuantizedInputs in = InputsOf(fusion);
  auto range = [&get](int i) { return FloatRange{*get(i), *get(i + 1)}; };
  v.data = range(in.data_range);
  v.weights_min = get(in.weights_range);
  v.weights_max = get(in.weights_range + 1);
  if (in.result_range >= 0) v.result = range(in.result_range);
  if (in.summand_range >= 0) v.summand = range(in.summand_range);
}
// What is known of an op before its ranges are.
FusionValues FusionValuesOf(const PrepareContext& p, const QuantizedFusion& fusion);

}  // namespace tenon

#endif  // TENON_KERNELS_QUANTIZED_QUANTIZED_FUSION_H_
