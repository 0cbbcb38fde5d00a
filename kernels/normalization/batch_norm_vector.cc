// Accelerated batch normalization: statistics in one pass over memory, the result in a second.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "env/status.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/normalization/batch_norm.h"
#include "kernels/normalization/channel_statistics.h"

namespace tenon {
namespace {

class BatchNormKernel : public Kernel {
 public:
  BatchNormKernel(const BatchNormSpec& spec)
      : spec_(spec),
        layout_(spec.outer, spec.channels, spec.inner, spec.dtype),
        loops_(layout_.Loops()) {}
  size_t ScratchBytes() const { return ChannelScratch::Bytes(layout_); }
  std::string Implementation() const override {
    return absl::StrCat("vector:", VectorTargetName());
  }

 protected:
  const BatchNormSpec spec_;
  const ChannelLayout layout_;
  const BatchNormLoops loops_;
};

class ForwardKernel final : public BatchNormKernel {
 public:
  using BatchNormKernel::BatchNormKernel;

  absl::Status Run(RunContext& r) const override {
    const ChannelScratch scratch(layout_, r.scratch());
    const size_t channels = static_cast<size_t>(spec_.channels);
    ChannelMoments moments;
    if (spec_.training) {
      moments = MomentsOf(layout_, loops_, spec_.threads, r.input(0), scratch);
    } else {
      moments.mean.assign(r.input<float>(3), r.input<float>(3) + channels);
      moments.variance.assign(r.input<float>(4), r.input<float>(4) + channels);
    }
    const auto& [mean, variance] = moments;
    float* const center = scratch.operand(0);
    float* const scale = scratch.operand(1);
    float* const offset = scratch.operand(2);
    for (size_t c = 0; c < channels; ++c) {
      // The mean as a float; the offset compensates its rounding. A given mean is a float already;
      // infinite ones and infinite scales must not meet their like, or 0, here.
      const double m = r.input<float>(1)[c] / std::sqrt(variance[c] + spec_.epsilon);
      center[c] = static_cast<float>(mean[c]);
      scale[c] = static_cast<float>(m);
      const double rest = spec_.training && std::isfinite(m) ? (center[c] - mean[c]) * m : 0;
      offset[c] = static_cast<float>(r.input<float>(2)[c] + rest);
    }
    for (float* values : {center, scale, offset}) layout_.Repeat(values);
    layout_.ForAll(spec_.threads, [&](int64_t at, int64_t rows, int64_t n, int64_t channel) {
      BatchNormPiece piece;
      piece.rows = static_cast<size_t>(rows);
      piece.n = static_cast<size_t>(n);
      piece.x = layout_.At(r.input(0), at);
      if (spec_.has_side) piece.side = layout_.At(r.input(5), at);
      piece.relu = spec_.relu;
      piece.relu_limit = spec_.relu_limit;
      piece.mean = center + channel;
      piece.scale = scale + channel;
      piece.offset = offset + channel;
      piece.y = layout_.At(r.output(0), at);
      loops_.apply(piece);
    });
    StoreBatchNormStatistics(spec_, mean.data(), variance.data(), r);
    return absl::OkStatus();
  }
};

class GradientKernel final : public BatchNormKernel {
 public:
  using BatchNormKernel::BatchNormKernel;

  absl::Status Run(RunContext& r) const override {
    const ChannelScratch scratch(layout_, r.scratch());
    float* const mean = scratch.operand(0);
    std::copy_n(r.input<float>(3), spec_.channels, mean);
    layout_.Repeat(mean);
    BatchNormPiece whole;
    whole.dy = r.input(0);
    whole.x = r.input(1);
    if (spec_.relu) whole.gate = r.input(7);
    whole.gate_limit = spec_.gate_limit();
    const auto [sum, product] = GradientSumsOf(layout_, loops_, spec_.threads, whole, scratch);
    const size_t channels = static_cast<size_t>(spec_.channels);
    float* const scale = scratch.operand(1);
    float* const curve = scratch.operand(2);
    float* const offset = scratch.operand(3);
    const double n = static_cast<double>(spec_.count());
    for (size_t c = 0; c < channels; ++c) {
      const double variance = r.input<float>(4)[c];
      const double root = 1 / std::sqrt(variance + spec_.epsilon);
      scale[c] = static_cast<float>(r.input<float>(2)[c] * root);
      curve[c] = spec_.training ? static_cast<float>(-root * root * product[c] / n) : 0.0f;
      offset[c] = spec_.training ? static_cast<float>(-sum[c] / n) : 0.0f;
      r.output<float>(1)[c] = static_cast<float>(product[c] * root);
      r.output<float>(2)[c] = static_cast<float>(sum[c]);
    }
    for (float* values : {scale, curve, offset}) layout_.Repeat(values);
    layout_.ForAll(spec_.threads, [&](int64_t at, int64_t rows, int64_t row, int64_t channel) {
      BatchNormPiece piece = whole;
      piece.rows = static_cast<size_t>(rows);
      piece.n = static_cast<size_t>(row);
      piece.dy = layout_.At(whole.dy, at);
      piece.x = layout_.At(whole.x, at);
      if (spec_.relu) piece.gate = layout_.At(whole.gate, at);
      piece.mean = mean + channel;
      piece.scale = scale + channel;
      piece.curve = curve + channel;
      piece.offset = offset + channel;
      piece.y = layout_.At(r.output(0), at);
      if (spec_.has_side) piece.gated = layout_.At(r.output(5), at);
      loops_.gradient(piece);
    });
    return absl::OkStatus();
  }
};

template <typename K>
absl::StatusOr<std::unique_ptr<Kernel>> MakeVector(PrepareContext& p, int x) {
  TENON_ASSIGN_OR_RETURN(const BatchNormSpec s, BatchNormSpecOf(p, x));
  if (s.dtype != DType::kFloat && s.dtype != DType::kBfloat16) {
    return Unimplemented("no vector kernel for ", Name(s.dtype));
  }
  if (s.count() == 0 || s.channels == 0) return Unimplemented("empty");
  auto kernel = std::make_unique<K>(s);
  p.RequestScratch(kernel->ScratchBytes());
  p.AllowInPlace(0, 0);
  return std::unique_ptr<Kernel>(std::move(kernel));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> BatchNormVector(PrepareContext& p) {
  return MakeVector<ForwardKernel>(p, 0);
}
absl::StatusOr<std::unique_ptr<Kernel>> BatchNormGradVector(PrepareContext& p) {
  return MakeVector<GradientKernel>(p, 1);
}

}  // namespace tenon
