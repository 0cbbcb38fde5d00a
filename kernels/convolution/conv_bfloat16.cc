#include "kernels/convolution/conv_bfloat16.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "env/round_up.h"
#include "env/status.h"
#include "kernels/contraction/narrow_panels.h"
#include "kernels/contraction/narrow_product_simd.h"
#include "kernels/contraction/packed_weights.h"
#include "kernels/contraction/strips.h"
#include "kernels/convolution/bfloat16_swish_simd.h"
#include "kernels/convolution/conv_pointwise.h"
#include "kernels/convolution/depthwise_lines.h"
#include "kernels/interface/parallel.h"
#include "primitive_cache/isa.h"

namespace tenon {
namespace {

// The input of the bias, -1 if there is none; nothing if the chain is another one.
std::optional<int> BiasBeforeSwish(const FusedOps& fused) {
  const bool bias = !fused.empty() && fused[0].bias;
  if (fused.size() != (bias ? 2u : 1u) || fused.back().op != ElementwiseOp::kSwish) {
    return std::nullopt;
  }
  return bias ? fused[0].input : -1;
}

class PointwiseSwishKernel final : public Kernel {
 public:
  PointwiseSwishKernel(const PrepareContext& p, const ConvGeometry& g, const NarrowMatrix& m,
                       const NarrowLoops& loops, std::shared_ptr<const PackedWeights> weights,
                       int bias)
      : rows_(static_cast<size_t>(g.batch * g.out_positions())),
        m_(m),
        loops_(loops),
        weights_(std::move(weights)),
        bias_(bias),
        swish_(FindBfloat16Swish()),
        start_(m.width, 0),
        strips_(1, m.panels(), rows_, loops.most_rows, m.terms * sizeof(uint16_t)),
        sums_(strips_.tile * m.width),
        threads_(p.services().threads),
        flops_(g.flops()) {
    const auto results = static_cast<double>(std::min(strips_.tile, rows_) * m.width);
    const double ns = std::max(static_cast<double>(m.panel_bytes()) / kBytesPerNs,
                               results * static_cast<double>(m.terms) / 32) +
                      results / 4;
    grain_ = ParallelGrain(ns);
  }

  size_t scratch_bytes() const {
    return static_cast<size_t>(ParallelRanges(threads_, strips_.units(), grain_)) * sums_ *
           sizeof(float);
  }

  absl::Status Run(RunContext& r) const override {
    ParallelForRanges(
        threads_, strips_.units(), grain_, [&](int range, int64_t begin, int64_t end) {
          float* const sums = static_cast<float*>(r.scratch()) + static_cast<size_t>(range) * sums_;
          strips_.Run(
              static_cast<size_t>(begin), static_cast<size_t>(end),
              [&](const Strips::Strip& strip) {
                return r.input<uint16_t>(0) + strip.row * m_.terms;
              },
              [&](const Strips::Strip& strip, const Strips::Tile& tile, const uint16_t* left) {
                RunTile(r, strip.row + tile.row, tile, left + tile.row * m_.terms, sums);
              });
        });
    return absl::OkStatus();
  }
  std::string Implementation() const override { return "bfloat16 tiles"; }
  double Flops() const override { return flops_; }

 private:
  void RunTile(RunContext& r, size_t row, const Strips::Tile& tile, const uint16_t* left,
               float* sums) const {
    const size_t column = tile.panel * m_.width;
    const size_t columns = std::min(m_.width, m_.columns - column);
    NarrowTile t;
    t.left = left;
    t.left_row = m_.terms * sizeof(uint16_t);
    t.right = static_cast<const char*>(weights_->data()) + tile.panel * m_.panel_bytes();
    t.words = m_.words();
    t.start = start_.data();
    t.sums = reinterpret_cast<int32_t*>(sums);
    t.sums_row = m_.width;
    loops_.multiply[tile.rows - 1][(columns + loops_.lanes - 1) / loops_.lanes - 1](t);
    Bfloat16Swish s;
    s.sums = sums;
    s.sums_row = m_.width;
    s.bias = bias_ < 0 ? nullptr : r.input<uint16_t>(bias_) + column;
    s.out = r.output<uint16_t>(0) + row * m_.columns + column;
    s.out_row = m_.columns;
    s.rows = tile.rows;
    s.columns = columns;
    swish_(s);
  }

  const size_t rows_;
  const NarrowMatrix m_;
  const NarrowLoops& loops_;
  const std::shared_ptr<const PackedWeights> weights_;
  const int bias_;  // input
  const Bfloat16SwishFn swish_;
  const std::vector<int32_t> start_;  // zeros
  const Strips strips_;
  const size_t sums_;  // floats of a range
  const int threads_;
  const double flops_;
  int64_t grain_ = 1;
};

class DepthwiseSwishKernel final : public Kernel {
 public:
  DepthwiseSwishKernel(const ConvGeometry& g, DepthwiseLines lines, int bias)
      : lines_(std::move(lines)),
        channels_(static_cast<size_t>(g.out_channels)),
        bias_(bias),
        swish_(FindBfloat16Swish()),
        flops_(g.flops()) {}

  size_t PlanRanges(int threads) {
    constexpr double kNs = 5;
    return lines_.PlanRanges(threads, kNs);
  }

  absl::Status Run(RunContext& r) const override {
    lines_.Run(r.input(0), r.scratch(), [&](const NarrowSums& part) {
      Bfloat16Swish s;
      s.sums = reinterpret_cast<const float*>(part.sums);
      s.sums_row = part.sums_row;
      s.bias = bias_ < 0 ? nullptr : r.input<uint16_t>(bias_) + part.column;
      s.out = r.output<uint16_t>(0) + part.row * channels_ + part.column;
      s.out_row = channels_;
      s.rows = part.rows;
      s.columns = part.columns;
      swish_(s);
    });
    return absl::OkStatus();
  }
  std::string Implementation() const override { return "bfloat16 lines"; }
  double Flops() const override { return flops_; }

 private:
  DepthwiseLines lines_;
  const size_t channels_;
  const int bias_;  // input
  const Bfloat16SwishFn swish_;
  const double flops_;
};

absl::StatusOr<std::unique_ptr<Kernel>> DepthwiseSwish(PrepareContext& p, const ConvGeometry& g,
                                                       int bias) {
  TENON_ASSIGN_OR_RETURN(DepthwiseLines lines, DepthwiseLines::Make(p, g, NarrowForm::kBfloat16));
  auto kernel = std::make_unique<DepthwiseSwishKernel>(g, std::move(lines), bias);
  p.RequestScratch(kernel->PlanRanges(p.services().threads));
  return kernel;
}

absl::StatusOr<std::unique_ptr<Kernel>> PointwiseSwish(PrepareContext& p, const ConvGeometry& g,
                                                       int bias) {
  if (p.constant(1) == nullptr || g.groups != 1 || !g.attrs.channels_last ||
      !ReadsEachPixelOnce(g) || g.in_channels % 2 != 0) {
    return Unimplemented("not pointwise with a constant filter, or an odd number of channels");
  }
  const NarrowLoops* const loops = FindNarrowLoops(NarrowForm::kBfloat16);
  if (loops == nullptr) return Unimplemented("no loops for this CPU");
  NarrowMatrix m;
  m.terms = static_cast<size_t>(g.in_channels);
  m.columns = m.term_stride = static_cast<size_t>(g.out_channels);
  m.element_bytes = sizeof(uint16_t);
  m.width = loops->columns();
  m.word_terms = loops->word_terms;
  TENON_ASSIGN_OR_RETURN(auto packed,
                         PackConstant(*p.constant(1), NarrowPanels(m, p.services().threads)));
  p.InputNotRead(1);
  auto kernel = std::make_unique<PointwiseSwishKernel>(p, g, m, *loops, std::move(packed), bias);
  p.RequestScratch(kernel->scratch_bytes());
  return kernel;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> ConvBfloat16SwishKernel(PrepareContext& p,
                                                                const ConvGeometry& g,
                                                                const FusedOps& fused) {
  const std::optional<int> bias = BiasBeforeSwish(fused);
  if (p.output_dtype(0) != DType::kBfloat16 || !bias.has_value()) {
    return Unimplemented("not a convolution of bfloat16 with swish");
  }
  if (!HasBfloat16Instructions()) return Unimplemented("another CPU");
  return g.depthwise ? DepthwiseSwish(p, g, *bias) : PointwiseSwish(p, g, *bias);
}

}  // namespace tenon
