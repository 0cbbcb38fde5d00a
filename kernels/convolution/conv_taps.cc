#include "kernels/convolution/conv_taps.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "env/status.h"
#include "kernels/contraction/contraction.h"
#include "kernels/contraction/packed_weights.h"
#include "kernels/contraction/tile_chain.h"
#include "kernels/convolution/conv.h"
#include "kernels/interface/parallel.h"
#include "kernels/matmul/blocked_product_simd.h"
#include "primitive_cache/convolution.h"

namespace tenon {
namespace {

// With fewer, most of a vector is empty, or of the loops' time goes into their ends.
constexpr int64_t kManyChannels = 16;
// Of a line of the output that one task computes: its part of the image fits half of the
// second-level cache.
constexpr int64_t kMostOutputs = 144;

// The outputs [begin, end) of a dimension, and the taps [first, last) of the window, which lie in
// the image for all of them.
struct TapSegment {
  int64_t begin, end, first, last;
};

// A dimension of the convolution, without strides.
struct TapSpan {
  int64_t in, out, window, dilation, pad;

  TapSpan(const ConvGeometry& g, size_t dim)
      : in(g.in[dim]),
        out(g.out[dim]),
        window(g.window[dim]),
        dilation(g.attrs.dilations[dim]),
        pad(g.pads_begin[dim]) {}
  int64_t Source(int64_t output, int64_t tap) const { return output + tap * dilation - pad; }

  // The first tap whose source is at least `source`, or the end of the window.
  int64_t TapFrom(int64_t output, int64_t source) const {
    const int64_t distance = std::max<int64_t>(source - Source(output, 0), 0);
    return std::min((distance + dilation - 1) / dilation, window);
  }

  std::vector<TapSegment> Segments() const {
    std::vector<int64_t> ends = {0, out};
    for (int64_t t = 0; t < window; ++t) {
      ends.push_back(std::clamp<int64_t>(pad - t * dilation, 0, out));
      ends.push_back(std::clamp<int64_t>(in + pad - t * dilation, 0, out));
    }
    std::sort(ends.begin(), ends.end());
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    std::vector<TapSegment> segments;
    for (size_t i = 1; i < ends.size(); ++i) {
      segments.push_back({ends[i - 1], ends[i], TapFrom(ends[i - 1], 0), TapFrom(ends[i - 1], in)});
    }
    return segments;
  }
};

class ConvTapsKernelImpl final : public Kernel {
 public:
  ConvTapsKernelImpl(const PrepareContext& p, const ConvGeometry& g, const FusedOps& fused,
                     const BlockedLoops& loops, int threads,
                     std::shared_ptr<const PackedWeights> weights)
      : height_(g, 0),
        width_(g, 1),
        segments_(width_.Segments()),
        lines_(g.batch * g.out[0]),
        parts_((g.out[1] + kMostOutputs - 1) / kMostOutputs),
        in_channels_(static_cast<size_t>(g.in_channels)),
        out_channels_(static_cast<size_t>(g.out_channels)),
        terms_(static_cast<size_t>(g.window_positions() * g.in_channels)),
        loops_(loops),
        weights_(std::move(weights)),
        chain_(p, fused, out_channels_),
        threads_(threads),
        flops_(g.flops()) {}

  absl::Status Run(RunContext& r) const override {
    ParallelTasks(threads_, lines_ * parts_, [&](int, int64_t i) {
      const int64_t line = i / parts_, part = i % parts_;
      const int64_t first = width_.out * part / parts_, last = width_.out * (part + 1) / parts_;
      ComputeLine(r, line, first, last);
      chain_.Apply(r, {static_cast<size_t>(line * width_.out + first),
                       static_cast<size_t>(last - first), 0, out_channels_});
    });
    chain_.Finish(r);
    return absl::OkStatus();
  }
  std::string Implementation() const override { return "taps"; }
  double Flops() const override { return flops_; }

 private:
  // The outputs [first, last) of a line.
  void ComputeLine(RunContext& r, int64_t line, int64_t first, int64_t last) const {
    float* const out = r.output<float>(0) + static_cast<size_t>(line * width_.out) * out_channels_;
    for (const TapSegment& s : segments_) {
      const int64_t begin = std::max(s.begin, first), end = std::min(s.end, last);
      if (begin >= end) continue;
      BlockedProduct p;
      p.a_row = in_channels_;
      p.rows = static_cast<size_t>(end - begin);
      p.columns = p.out_row = out_channels_;
      p.width = loops_.columns;
      p.panel = terms_ * p.width;
      p.out = out + static_cast<size_t>(begin) * out_channels_;
      AddTaps(r.input<float>(0), line, begin, s, p);
      if (!p.add) std::fill_n(p.out, p.rows * out_channels_, 0.0f);
    }
  }

  void AddTaps(const float* image, int64_t line, int64_t begin, const TapSegment& s,
               BlockedProduct& p) const {
    const float* const weights = static_cast<const float*>(weights_->data());
    p.terms = in_channels_;
    p.part = EqualTerms(in_channels_);
    const int64_t image_row = line / height_.out * height_.in, output = line % height_.out;
    const int64_t last = height_.TapFrom(output, height_.in);
    for (int64_t y = height_.TapFrom(output, 0); y < last; ++y) {
      const int64_t row = image_row + height_.Source(output, y);
      for (int64_t x = s.first; x < s.last; ++x) {
        const auto pixel = static_cast<size_t>(row * width_.in + width_.Source(begin, x));
        const auto tap = static_cast<size_t>(y * width_.window + x);
        p.a = image + pixel * in_channels_;
        p.w = weights + tap * in_channels_ * p.width;
        loops_.multiply(p);
        p.add = true;
      }
    }
  }

  const TapSpan height_, width_;
  const std::vector<TapSegment> segments_;
  const int64_t lines_, parts_;
  const size_t in_channels_, out_channels_, terms_;
  const BlockedLoops loops_;
  const std::shared_ptr<const PackedWeights> weights_;
  const TileChain chain_;
  const int threads_;
  const double flops_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> ConvTapsKernel(PrepareContext& p, const ConvGeometry& g,
                                                       const FusedOps& fused) {
  if (!HasConstantFilter(p, g) || !All(g.attrs.strides, 1) || All(g.attrs.dilations, 1) ||
      g.window_positions() < 2 || std::min(g.in_channels, g.out_channels) < kManyChannels) {
    return Unimplemented("not a dilated window, many channels and a constant filter");
  }
  const ConvolutionProblem problem = ConvProblem(g, ElementType::kF32, p.services().threads);
  TENON_ASSIGN_OR_RETURN(const auto convolution, GetConvolution(problem, p.services().cache));
  // Its direct kernel is slow for one-dimensional windows, see conv_gather.cc.
  const bool slow = ComputesByGemm(*convolution) ||
                    (convolution->implementation() == "jit:avx2" && g.window[0] == 1);
  if (!slow) return Unimplemented("oneDNN is as fast");
  const BlockedLoops loops = FindBlockedLoops();
  TENON_ASSIGN_OR_RETURN(
      auto weights, PackConstant(*p.constant(1), FilterPanels(g, loops.columns, problem.threads)));
  p.InputNotRead(1);
  return std::make_unique<ConvTapsKernelImpl>(p, g, fused, loops, problem.threads,
                                              std::move(weights));
}

}  // namespace tenon
