#include "kernels/quantized/quantized_fusion.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "env/status.h"
#include "kernels/elementwise/formulas.h"
#include "kernels/quantized/quantized_types.h"
#include "kernels/quantized/range_inputs.h"
#include "kernels/quantized/range_math.h"

namespace tenon {
namespace {

float Limit(DType dtype) { return dtype == DType::kQuint8 ? 255.0f : 127.0f; }

float DataStep(const FusionValues& v) {
  if (v.min_first) return (v.data.max - v.data.min) / Limit(v.data_dtype);
  return Magnitude(v.data) / Limit(v.data_dtype);
}

float At(const std::vector<float>& values, int64_t channel) {
  return values[values.size() == 1 ? 0 : static_cast<size_t>(channel)];
}

template <typename T>
T Saturate(float v) {
  const float low = static_cast<float>(kLowest<T>), high = static_cast<float>(kHighest<T>);
  return TruncateTo<T>(std::min(std::max(std::nearbyint(v), low), high));
}

// A bias beyond any sum of products saturates the result in any case.
int64_t WholeBias(float v) { return TruncateToInt64(std::isnan(v) ? 0 : Clamp(v, -1e12f, 1e12f)); }

float SummandAt(DType dtype, const void* summand, int64_t i) {
  if (dtype == DType::kQint8) return static_cast<const int8_t*>(summand)[i];
  if (dtype == DType::kQuint8) return static_cast<const uint8_t*>(summand)[i];
  return static_cast<const float*>(summand)[i];
}

}  // namespace

QuantizedInputs InputsOf(const QuantizedFusion& fusion) {
  QuantizedInputs in;
  int next = 2;
  auto take = [&next](int n) {
    next += n;
    return next - n;
  };
  if (fusion.bias) in.bias = take(1);
  if (fusion.ranges_last && fusion.sum != QuantizedFusion::Sum::kNone) in.summand = take(1);
  in.data_range = take(2);
  in.weights_range = take(2);
  if (fusion.ranges_last) {
    if (fusion.sum == QuantizedFusion::Sum::kQuantized) in.summand_range = take(2);
    if (fusion.result == QuantizedFusion::Result::kRequantized) in.result_range = take(2);
    in.count = next;
    return in;
  }
  if (fusion.result != QuantizedFusion::Result::kInt32) in.result_range = take(2);
  if (fusion.sum != QuantizedFusion::Sum::kNone) in.summand = take(1);
  if (fusion.sum == QuantizedFusion::Sum::kQuantized) in.summand_range = take(2);
  in.count = next;
  return in;
}

Epilogue MakeEpilogue(const QuantizedFusion& fusion, const FusionValues& v) {
  Epilogue e;
  const float data_step = DataStep(v);
  std::vector<float> units;
  for (int64_t c = 0; c < v.weights_ranges; ++c) {
    units.push_back(data_step * (Magnitude(v.weights_min[c], v.weights_max[c]) / 127.0f));
  }
  const bool whole = fusion.result == QuantizedFusion::Result::kInt32;
  float result_step = 1;
  if (fusion.result == QuantizedFusion::Result::kRequantized) {
    result_step = Magnitude(v.result) / Limit(v.result_dtype);
  }
  if (fusion.swish) e.swish_scale = 1 / std::exchange(result_step, 1.0f);
  for (float unit : units) e.scale.push_back(whole ? 1.0f : unit / result_step);
  if (fusion.sum == QuantizedFusion::Sum::kFloat) {
    for (float unit : units) e.sum_scale.push_back(1.0f / (whole ? unit : result_step));
  } else if (fusion.sum == QuantizedFusion::Sum::kQuantized) {
    e.sum_scale = {Magnitude(v.summand) / Limit(v.summand_dtype) / result_step};
  }
  if (!fusion.bias) return e;
  const float low = v.min_first ? v.data.min / data_step : 0.0f;
  for (int64_t c = 0; c < v.channels; ++c) {
    float bias;
    if (v.bias_dtype == DType::kQint32) {
      bias = static_cast<float>(static_cast<const int32_t*>(v.bias)[c]);
    } else if (!v.min_first) {
      // Exactly, so that halves are rounded to even.
      const int64_t w = v.weights_ranges == 1 ? 0 : c;
      const double steps = static_cast<double>(Limit(v.data_dtype)) * 127;
      bias =
          static_cast<float>(static_cast<double>(static_cast<const float*>(v.bias)[c]) * steps /
                             (static_cast<double>(Magnitude(v.data)) *
                              static_cast<double>(Magnitude(v.weights_min[w], v.weights_max[w]))));
    } else {
      bias = static_cast<const float*>(v.bias)[c] / At(units, c);
      bias += static_cast<float>(v.weight_sums[c]) * low;
    }
    e.bias.push_back(whole ? std::nearbyint(bias) : bias);
  }
  return e;
}

void ApplyEpilogue(const QuantizedFusion& fusion, const FusionValues& v, const Epilogue& e,
                   const int32_t* sums, const void* summand, int64_t rows, void* result) {
  const bool add = fusion.sum != QuantizedFusion::Sum::kNone;
  for (int64_t i = 0; i < rows * v.channels; ++i) {
    const int64_t c = i % v.channels;
    const float extra = add ? SummandAt(v.summand_dtype, summand, i) * At(e.sum_scale, c) : 0.0f;
    if (fusion.result == QuantizedFusion::Result::kInt32) {
      int64_t sum = sums[i];
      if (fusion.bias) {
        // A qint32 bias is exact as an integer, but not as a float.
        sum += v.bias_dtype == DType::kQint32 ? static_cast<const int32_t*>(v.bias)[c]
                                              : WholeBias(e.bias[static_cast<size_t>(c)]);
      }
      if (add) sum += TruncateToInt32(std::nearbyint(extra));
      if (fusion.relu) sum = std::max<int64_t>(sum, 0);
      static_cast<int32_t*>(result)[i] =
          static_cast<int32_t>(std::clamp(sum, kLowest<int32_t>, kHighest<int32_t>));
      continue;
    }
    float real = static_cast<float>(sums[i]);
    if (fusion.bias) real += e.bias[static_cast<size_t>(c)];
    real = real * At(e.scale, c) + extra;
    if (fusion.relu) real = std::max(real, 0.0f);
    if (fusion.swish) real = e.swish_scale * Formula<ElementwiseOp::kSwish>{}(real);
    real += static_cast<float>(fusion.result_zero);
    if (v.result_dtype == DType::kFloat) {
      static_cast<float*>(result)[i] = real;
    } else if (v.result_dtype == DType::kQuint8) {
      static_cast<uint8_t*>(result)[i] = Saturate<uint8_t>(real);
    } else {
      static_cast<int8_t*>(result)[i] = Saturate<int8_t>(real);
    }
  }
}

std::vector<FloatRange> ResultRanges(const QuantizedFusion& fusion, const FusionValues& v) {
  if (fusion.result == QuantizedFusion::Result::kRequantized) return {v.result};
  std::vector<FloatRange> ranges;
  const float steps = v.data_dtype == DType::kQuint8 ? 255.0f : 254.0f;
  const float data = (v.data.max - v.data.min) / steps;
  for (int64_t c = 0; c < v.weights_ranges; ++c) {
    const float level = data * ((v.weights_max[c] - v.weights_min[c]) / 254.0f);
    ranges.push_back({level * static_cast<float>(kLowest<int32_t>),
                      level * static_cast<float>(kHighest<int32_t>)});
  }
  return ranges;
}

void SetRanges(RunContext& r, const std::vector<FloatRange>& ranges) {
  for (size_t i = 0; i < ranges.size(); ++i) {
    r.output<float>(1)[i] = ranges[i].min;
    r.output<float>(2)[i] = ranges[i].max;
  }
}

FusionValues FusionValuesOf(const PrepareContext& p, const QuantizedFusion& fusion) {
  const QuantizedInputs in = InputsOf(fusion);
  FusionValues v;
  v.data_dtype = p.input_dtype(in.data);
  v.result_dtype = p.output_dtype(0);
  if (in.bias >= 0) v.bias_dtype = p.input_dtype(in.bias);
  if (in.summand >= 0) v.summand_dtype = p.input_dtype(in.summand);
  v.weights_ranges = p.input_shape(in.weights_range).num_elements();
  v.channels = p.output_shape(0)[p.output_shape(0).rank() - 1];
  return v;
}

}  // namespace tenon
