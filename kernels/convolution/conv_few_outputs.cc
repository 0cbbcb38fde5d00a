#include "kernels/convolution/conv_few_outputs.h"

#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "env/status.h"
#include "kernels/contraction/contraction.h"
#include "kernels/contraction/packed_weights.h"
#include "kernels/contraction/register_chain.h"
#include "kernels/contraction/tile_chain.h"
#include "kernels/convolution/conv.h"
#include "kernels/convolution/few_outputs_simd.h"
#include "kernels/convolution/window_spans.h"
#include "kernels/interface/parallel.h"
#include "kernels/matmul/blocked_product_simd.h"

namespace tenon {
namespace {

using WindowRuns = absl::InlinedVector<WindowRun, 16>;

class FewOutputsKernel final : public Kernel {
 public:
  FewOutputsKernel(const PrepareContext& p, const ConvGeometry& g, const FusedOps& fused,
                   std::shared_ptr<const PackedWeights> filter, int threads)
      : height_(g, 0),
        width_(g, 1),
        lines_(g.batch * g.out[0]),
        channels_(g.in_channels),
        outputs_(static_cast<size_t>(g.out_channels)),
        terms_(static_cast<size_t>(g.window_positions() * g.in_channels)),
        loops_(FindFewOutputsLoops()),
        filter_(std::move(filter)),
        first_(PlanRegisterChain(p, fused)),
        rest_(p, first_.RestOf(fused), outputs_),
        threads_(threads),
        flops_(g.flops()) {}

  absl::Status Run(RunContext& r) const override {
    ParallelTasks(threads_, lines_, [&](int, int64_t line) {
      width_.ForParts([&](int64_t x, int64_t pixels) { ComputePixels(r, line, x, pixels); });
      rest_.Apply(r, {static_cast<size_t>(line * width_.out), static_cast<size_t>(width_.out), 0,
                      outputs_});
    });
    rest_.Finish(r);
    return absl::OkStatus();
  }
  std::string Implementation() const override { return "dots"; }
  double Flops() const override { return flops_; }

 private:
  // Pixels with the same taps.
  void ComputePixels(RunContext& r, int64_t line, int64_t x, int64_t pixels) const {
    const WindowRuns runs = Runs(line, x);
    FewOutputs f;
    f.image = r.input<float>(0);
    f.image_step = static_cast<size_t>(width_.stride * channels_);
    f.runs = runs.data();
    f.num_runs = runs.size();
    f.filter = static_cast<const float*>(filter_->data());
    f.filter_step = terms_;
    f.pixels = static_cast<size_t>(pixels);
    f.outputs = outputs_;
    const size_t at = static_cast<size_t>(line * width_.out + x) * outputs_;
    if (first_.bias >= 0) f.bias = r.input<float>(first_.bias);
    if (first_.addend >= 0) f.addend = r.input<float>(first_.addend) + at;
    f.clamp_low = first_.clamp_low;
    f.clamp_high = first_.clamp_high;
    f.out = r.output<float>(0) + at;
    loops_.compute(f);
  }

  WindowRuns Runs(int64_t line, int64_t x) const {
    WindowRuns runs;
    const int64_t first_row = line / height_.out * height_.in, y = line % height_.out;
    const TapRange down = height_.Taps(y), across = width_.Taps(x);
    // Taps that are adjacent in the image make one run.
    const int64_t adjacent = width_.dilation == 1 ? across.last - across.first : 1;
    for (int64_t dy = down.first; dy < down.last; ++dy) {
      const int64_t row = (first_row + height_.Source(y, dy)) * width_.in;
      for (int64_t dx = across.first; dx < across.last; dx += adjacent) {
        AddRun({static_cast<size_t>((row + width_.Source(x, dx)) * channels_),
                static_cast<size_t>((dy * width_.window + dx) * channels_),
                static_cast<size_t>(adjacent * channels_)},
               runs);
      }
    }
    if (!runs.empty()) runs.back().ends_part = true;
    return runs;
  }

  // Cuts the run where a part of the sum ends.
  void AddRun(WindowRun run, WindowRuns& runs) const {
    const size_t most = kPartTerms * loops_.lanes;
    size_t taken = 0;  // of the part
    for (size_t i = runs.size(); i > 0 && !runs[i - 1].ends_part; --i) taken += runs[i - 1].length;
    while (taken + run.length > most) {
      WindowRun begin = run;
      begin.length = most - taken;
      begin.ends_part = true;
      if (begin.length > 0) {
        runs.push_back(begin);
      } else {
        runs.back().ends_part = true;
      }
      run.image += begin.length;
      run.filter += begin.length;
      run.length -= begin.length;
      taken = 0;
    }
    if (run.length > 0) runs.push_back(run);
  }

  const WindowSpans height_, width_;
  const int64_t lines_, channels_;
  const size_t outputs_, terms_;
  const FewOutputsLoops loops_;
  const std::shared_ptr<const PackedWeights> filter_;
  const RegisterChain first_;
  const TileChain rest_;
  const int threads_;
  const double flops_;
};

// oneDNN takes about as long for few output channels as for the next multiple of 8 (AVX2) or 16.
// Two threads of Zen 3, its time (our Winograd's for 3x3) over that of these loops: 9x9x32, 3
// outputs: 42 (as many columns of padding are beyond its direct kernel); 7x7x64, 3: 6.1; 5x5x64:
// 1: 11, 3: 5.0, 8: 1.75, 12: 1.4, 16: 1.03; 3x3x64: 1: 5.5, 3: 2.4, 6: 1.2, 8: 0.9; 1x1x64:
// 1: 2.9, 2: 1.5, 3: 1.1. Short sums are added up too often: 3x3x3, 2 outputs: 0.9.
bool HasFewOutputs(const ConvGeometry& g) {
  const int64_t terms = g.window_positions() * g.in_channels;
  if (terms < 64) return false;
  if (g.window_positions() == 1) return g.out_channels <= 2;
  const bool winograd = All(g.window, 3) && All(g.attrs.strides, 1);
  // With vectors of 16 not measured: oneDNN's are filled up to 16 there.
  const int64_t many = FindFewOutputsLoops().lanes > 8 ? 8 : 12;
  return g.out_channels <= (winograd ? 6 : terms < 256 ? 4 : many);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> ConvFewOutputsKernel(PrepareContext& p,
                                                             const ConvGeometry& g,
                                                             const FusedOps& fused) {
  if (!HasConstantFilter(p, g) || !HasFewOutputs(g)) {
    return Unimplemented("not few output channels and a constant filter");
  }
  const int threads = ConvProblem(g, ElementType::kF32, p.services().threads).threads;
  // Each output channel's filter on its own.
  TENON_ASSIGN_OR_RETURN(auto filter, PackConstant(*p.constant(1), FilterPanels(g, 1, threads)));
  p.InputNotRead(1);
  return std::make_unique<FewOutputsKernel>(p, g, fused, std::move(filter), threads);
}

}  // namespace tenon
