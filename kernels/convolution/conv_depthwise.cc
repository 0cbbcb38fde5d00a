#include "kernels/convolution/conv_depthwise.h"

#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "env/status.h"
#include "kernels/contraction/contraction.h"
#include "kernels/contraction/register_chain.h"
#include "kernels/contraction/tile_chain.h"
#include "kernels/convolution/conv.h"
#include "kernels/convolution/depthwise_floats_simd.h"
#include "kernels/convolution/window_spans.h"
#include "kernels/interface/parallel.h"

namespace tenon {
namespace {

// What a thread computes of such a convolution.
constexpr double kDepthwiseFlopsPerNs = 40;
// Ranges of 1 us are worth a thread: its cache has the lines, and it stands by (KeepTeam).
constexpr double kGrainFactor = 3;

// oneDNN's kernels for windows of three columns are faster (1.2 times for 25x5x64 on a thread of
// Zen 4), but begin a region of their own on several threads, which takes longer than a small
// convolution. With these loops, a network for keywords (25x5x64) takes 0.91 of the time, MobileNet
// (128x128, a quarter of the channels) 0.97. One thread takes them, too: results have the same bits
// on any number of threads.
bool IsSmallForOneDnn(const ConvGeometry& g) {
  constexpr double kMostFlops = 6e5;
  return g.flops() <= kMostFlops;
}

class DepthwiseFloatsKernel final : public Kernel {
 public:
  DepthwiseFloatsKernel(const PrepareContext& p, const ConvGeometry& g, const FusedOps& fused,
                        DepthwiseLineFn compute)
      : height_(g, 0),
        width_(g, 1),
        lines_(g.batch * g.out[0]),
        channels_(g.in_channels),
        compute_(compute),
        first_(PlanRegisterChain(p, fused)),
        rest_(p, FusedOps(fused.begin() + static_cast<ptrdiff_t>(first_.count), fused.end()),
              static_cast<size_t>(channels_)),
        threads_(ConvProblem(g, ElementType::kF32, p.services().threads).threads),
        grain_(ParallelGrain(kGrainFactor * g.flops() / kDepthwiseFlopsPerNs /
                             static_cast<double>(lines_))),
        flops_(g.flops()) {}

  absl::Status Run(RunContext& r) const override {
    ParallelFor(threads_, lines_, grain_, [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) {
        ComputeLine(r, line);
        rest_.Apply(r, {static_cast<size_t>(line * width_.out), static_cast<size_t>(width_.out), 0,
                        static_cast<size_t>(channels_)});
      }
    });
    rest_.Finish(r);
    return absl::OkStatus();
  }
  std::string Implementation() const override { return "depthwise lines"; }
  double Flops() const override { return flops_; }

 private:
  void ComputeLine(RunContext& r, int64_t line) const {
    absl::InlinedVector<const float*, 16> rows, filters;
    const int64_t first_row = line / height_.out * height_.in, y = line % height_.out;
    const TapRange taps = height_.Taps(y);
    for (int64_t tap = taps.first; tap < taps.last; ++tap) {
      rows.push_back(r.input<float>(0) +
                     (first_row + height_.Source(y, tap)) * width_.in * channels_);
      filters.push_back(r.input<float>(1) + tap * width_.window * channels_);
    }
    DepthwiseLine l;
    l.rows = rows.data();
    l.filters = filters.data();
    l.num_rows = rows.size();
    l.width = width_.in;
    l.pad = width_.pad;
    l.pixels = static_cast<size_t>(width_.out);
    l.channels = static_cast<size_t>(channels_);
    const int64_t at = line * width_.out * channels_;
    if (first_.bias >= 0) l.bias = r.input<float>(first_.bias);
    if (first_.addend >= 0) l.addend = r.input<float>(first_.addend) + at;
    l.clamp_low = first_.clamp_low;
    l.clamp_high = first_.clamp_high;
    l.out = r.output<float>(0) + at;
    compute_(l);
  }

  const WindowSpans height_, width_;
  const int64_t lines_, channels_;
  const DepthwiseLineFn compute_;
  const RegisterChain first_;
  const TileChain rest_;
  const int threads_;
  const int64_t grain_;
  const double flops_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> ConvDepthwiseKernel(PrepareContext& p,
                                                            const ConvGeometry& g,
                                                            const FusedOps& fused) {
  if (p.output_dtype(0) != DType::kFloat || !g.attrs.channels_last || g.attrs.spatial != 2 ||
      g.groups != g.in_channels || g.out_channels != g.in_channels || g.attrs.dilations[1] != 1 ||
      g.attrs.strides[1] != 1) {
    return Unimplemented("not a depthwise convolution of floats, or with strides or dilated");
  }
  const DepthwiseFloatLoops loops = FindDepthwiseFloatLoops(g.window[1]);
  if (loops.compute == nullptr || g.in_channels < static_cast<int64_t>(loops.lanes)) {
    return Unimplemented("no loops for the window, or few channels");
  }
  if (std::max(g.pads_begin[1], g.pads_end[1]) >= g.window[1]) {
    return Unimplemented("padding as wide as the window");
  }
  if (g.window[1] == 3 && !IsSmallForOneDnn(g)) {
    return Unimplemented("oneDNN is faster");
  }
  return std::make_unique<DepthwiseFloatsKernel>(p, g, fused, loops.compute);
}

}  // namespace tenon
