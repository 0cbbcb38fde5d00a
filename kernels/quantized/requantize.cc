#include "kernels/quantized/requantize.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "env/status.h"
#include "kernels/quantized/quantized_simd.h"
#include "kernels/quantized/range_inputs.h"

namespace tenon {
namespace {

// Converts int32 to 8 bits with another range, in fixed point with 16 fraction bits.
void RequantizeToUint8(const int32_t* x, int64_t n, FloatRange from, FloatRange to, uint8_t* y) {
  constexpr int kShift = 16;
  constexpr double kOne = 1 << kShift;
  const float from_size = from.max - from.min, to_size = to.max - to.min;
  int64_t scale = 0, offset = 0;
  if (to_size != 0) {
    const float reciprocal = static_cast<float>(255.0 / to_size);
    const float middle = static_cast<float>((from.min + from.max) / 2.0);
    scale = TruncateToInt64(255.0 * kOne * from_size / to_size);
    offset = TruncateToInt64(middle * reciprocal * static_cast<float>(kOne));
    const double shift = kOne * (to.min * 255.0) / to_size;
    offset = AddWrapped(offset, TruncateToInt64(-std::round(shift)));
  }
  offset = AddWrapped(offset, int64_t{1} << (kShift - 1));
  constexpr int64_t kMostOffset = 1 << 30;
  if (scale >= 0 && scale <= INT32_MAX && std::abs(offset) <= kMostOffset) {
    const FixedPointMap map{static_cast<int32_t>(scale), static_cast<int32_t>(offset)};
    return FindFixedPointToBytes()(map, x, y, static_cast<size_t>(n));
  }
  for (int64_t i = 0; i < n; ++i) {
    const auto product =
        static_cast<int64_t>(static_cast<uint64_t>(int64_t{x[i]}) * static_cast<uint64_t>(scale));
    const int64_t v = AddWrapped(product >> 32, offset) >> kShift;
    y[i] = static_cast<uint8_t>(std::clamp<int64_t>(v, 0, 255));
  }
}

// The range of the values actually in x, extended to include 0.
FloatRange ActualRange(const int32_t* x, int64_t n, FloatRange range) {
  const auto [low, high] =
      FindExtremes<int32_t>()(x, static_cast<size_t>(n), {INT32_MAX, INT32_MIN});
  return {std::min(0.0f, DequantizeValue(low, range)), DequantizeValue(high, range)};
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> RequantizeKernel(PrepareContext& p) {
  const int64_t n = p.output_shape(0).num_elements();
  const bool to_unsigned = p.output_dtype(0) == DType::kQuint8;
  return MakeKernel([n, to_unsigned](RunContext& r) -> absl::Status {
    const FloatRange from = ScalarRange(r, 1), to = ScalarRange(r, 3);
    if (!(to.min <= 0)) return InvalidArgument("requested_output_min must be <= 0, is ", to.min);
    if (!(to.max >= to.min)) {
      return InvalidArgument("requested_output_max ", to.max, " is below requested_output_min");
    }
    const int32_t* x = r.input<int32_t>(0);
    if (to_unsigned) {
      RequantizeToUint8(x, n, from, to, r.output<uint8_t>(0));
    } else {
      const Dequantizer<int32_t> dequantize(from);
      const Quantizer<int8_t> quantize(to);
      const RequantizeMap map = {
          dequantize.scale(), dequantize.offset(), quantize.scale(), quantize.offset(), -128, 127};
      FindRequantize()(map, x, r.output<uint8_t>(0), static_cast<size_t>(n));
    }
    SetRange(r, 1, to);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> RequantizationRangeKernel(PrepareContext& p) {
  const int64_t n = p.input_shape(0).num_elements();
  return MakeKernel([n](RunContext& r) {
    SetRange(r, 0, ActualRange(r.input<int32_t>(0), n, ScalarRange(r, 1)));
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> RequantizeAndShrinkKernel(PrepareContext& p) {
  const int64_t n = p.input_shape(0).num_elements();
  return MakeKernel([n](RunContext& r) {
    const int32_t* x = r.input<int32_t>(0);
    const FloatRange from = ScalarRange(r, 1), to = ActualRange(x, n, from);
    RequantizeToUint8(x, n, from, to, r.output<uint8_t>(0));
    SetRange(r, 1, to);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> RequantizePerChannelKernel(PrepareContext& p) {
  const Slices s = SlicesOf(p.input_shape(0), 3);
  const bool to_unsigned = p.output_dtype(0) == DType::kQuint8;
  return MakeKernel([s, to_unsigned](RunContext& r) -> absl::Status {
    const FloatRange to = ScalarRange(r, 3);
    if (!to_unsigned && !(to.min < 0)) {
      return InvalidArgument("requested_output_min must be < 0 for qint8, is ", to.min);
    }
    const float limit = to_unsigned ? 255.0f : 127.0f, requested = Magnitude(to.min, to.max);
    const int32_t* x = r.input<int32_t>(0);
    std::vector<float> scales(static_cast<size_t>(s.count));
    for (int64_t k = 0; k < s.count; ++k) {
      const float from = Magnitude(r.input<float>(1)[k], r.input<float>(2)[k]);
      scales[static_cast<size_t>(k)] = limit * (from / requested / 2147483648.0f);
    }
    const RequantizeColumns columns = {scales.data(), to_unsigned ? 0.0f : -128.0f,
                                       to_unsigned ? 255.0f : 127.0f};
    const RequantizeColumnsFn requantize = FindRequantizeColumns();
    for (int64_t at = 0; at < s.outer * s.count; at += s.count) {
      requantize(columns, x + at, r.output<uint8_t>(0) + at, scales.size());
    }
    SetRange(r, 1, to);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> RequantizationRangePerChannelKernel(PrepareContext& p) {
  const Slices s = SlicesOf(p.input_shape(0), 3);
  TENON_ASSIGN_OR_RETURN(const float clip, p.attrs().Float("clip_value_max"));
  return MakeKernel([s, clip](RunContext& r) {
    const int32_t* x = r.input<int32_t>(0);
    float largest = std::numeric_limits<float>::min();
    bool negative = false;
    for (int64_t k = 0; k < s.count; ++k) {
      uint32_t most = 0;
      for (int64_t i = k; i < s.outer * s.count; i += s.count) {
        negative |= x[i] < 0;
        most = std::max(most,
                        x[i] < 0 ? 0u - static_cast<uint32_t>(x[i]) : static_cast<uint32_t>(x[i]));
      }
      const float from = Magnitude(r.input<float>(1)[k], r.input<float>(2)[k]);
      largest = std::max(largest, from * static_cast<float>(most) / 2147483648.0f);
    }
    largest = std::min(largest, clip);
    SetRange(r, 0, {negative ? -largest : 0.0f, largest});
    return absl::OkStatus();
  });
}

}  // namespace tenon
