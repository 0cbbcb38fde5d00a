// QuantizedBatchNormWithGlobalNormalization: batch normalization of 8-bit images [N, H, W, C] with
// given means and variances, in 32-bit fixed point.
#include <array>
#include <cmath>
#include <vector>

#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "kernels/quantized/range_inputs.h"
#include "ops/nn/batch_norm_shape.h"
#include "ops/op.h"
#include "ops/quant/range_shape.h"

namespace tenon {
namespace {

// Each input is followed by its range.
enum : int { kImages = 0, kMean = 3, kVariance = 6, kBeta = 9, kGamma = 12, kEnd = 15 };

// The range of the result, in which 1 is 2048.
constexpr FloatRange kFixedPoint = {-(1 << 20), 1 << 20};
constexpr int32_t kOne = 2048;

absl::Status QuantizedBatchNormShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(kImages, 4));
  int64_t channels = c.input(kImages).has_rank() ? c.input(kImages).dim(3) : -1;
  for (int i : {kMean, kVariance, kBeta, kGamma}) {
    TENON_RETURN_IF_ERROR(ExpectPerChannel(c, i, channels));
  }
  if (channels == 0) return InvalidArgument("images without channels");
  for (int i = 0; i < kEnd; i += 3) TENON_RETURN_IF_ERROR(ExpectScalars(c, {i + 1, i + 2}));
  Shape out = c.input(kImages).has_rank() ? c.input(kImages) : Shape::UnknownOfRank(4);
  out.set_dim(3, channels);
  c.set_output(0, std::move(out));
  for (int i : {1, 2}) c.set_output(i, Shape());
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> QuantizedBatchNorm(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const float epsilon, p.attrs().Float("variance_epsilon"));
  TENON_ASSIGN_OR_RETURN(const bool scales, p.attrs().Bool("scale_after_normalization"));
  const Shape& in = p.input_shape(kImages);
  const auto channels = static_cast<size_t>(in.dim(3));
  const int64_t n = in.num_elements();
  const int threads = p.services().threads;
  return MakeKernel([=](RunContext& run) {
    std::vector<int32_t> scale(channels), offset(channels);
    for (size_t c = 0; c < channels; ++c) {
      auto value = [&](int i) {
        return DequantizeValue(run.input<uint8_t>(i)[c], ScalarRange(run, i + 1));
      };
      float factor = 1.0f / std::sqrt(value(kVariance) + epsilon);
      if (scales) factor *= value(kGamma);
      scale[c] = QuantizeValue<int32_t>(factor, kFixedPoint);
      offset[c] = QuantizeValue<int32_t>(-value(kMean) * factor + value(kBeta), kFixedPoint);
    }
    const FloatRange range = ScalarRange(run, kImages + 1);
    const uint8_t* x = run.input<uint8_t>(kImages);
    int32_t* y = run.output<int32_t>(0);
    std::array<int32_t, 256> fixed;  // of each byte
    for (size_t v = 0; v < fixed.size(); ++v) {
      fixed[v] =
          QuantizeValue<int32_t>(DequantizeValue(static_cast<uint8_t>(v), range), kFixedPoint);
    }
    const double ns = static_cast<double>(channels);
    ParallelFor(threads, n / std::ssize(scale), ParallelGrain(ns), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin * std::ssize(scale); i < end * std::ssize(scale);) {
        for (size_t c = 0; c < channels; ++c, ++i) {
          y[i] = WrapAdd(WrapMul(fixed[x[i]], scale[c]) / kOne, offset[c]);
        }
      }
    });
    SetRange(run, 1, kFixedPoint);
    return absl::OkStatus();
  });
}

const OpRegistration quantized_batch_norm({
    .name = "QuantizedBatchNormWithGlobalNormalization",
    .inputs = "t: Tinput, t_min: float, t_max: float, m: Tinput, m_min: float, m_max: float, "
              "v: Tinput, v_min: float, v_max: float, beta: Tinput, beta_min: float, "
              "beta_max: float, gamma: Tinput, gamma_min: float, gamma_max: float",
    .outputs = "result: out_type, result_min: float, result_max: float",
    .attrs = "Tinput: type; out_type: type; variance_epsilon: float; "
             "scale_after_normalization: bool",
    .types = "Tinput: quint8; out_type: qint32",
    .shape = QuantizedBatchNormShape,
    .reference = QuantizedBatchNorm,
});

}  // namespace
}  // namespace tenon
