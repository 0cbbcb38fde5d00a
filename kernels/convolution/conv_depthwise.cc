#include "kernels/convolution/conv_depthwise.h"

#include <utility>

#include "env/status.h"
#include "kernels/convolution/conv.h"
#include "kernels/convolution/depthwise_floats.h"
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

// oneDNN's kernels are faster for other small windows, with strides, and, unless there are 32
// registers, for 7 and 9 columns. Two threads of Zen 4, its time over that of these loops:
// 56x56x96, 7x7: 1.34; 28x28x192, 7x7: 1.5, 11x11: 1.18; 14x14x384, 9x9: 1.12; 28x28x64,
// 13x13: 1.4; 5x5: 0.85 to 0.97; 3x3: 0.7. With AVX2, 7x7: 0.73 to 1.0; 28x28x192, 11x11: 1.34;
// 28x28x64, 13x13: 6.
bool IsSlowWithOneDnn(const ConvGeometry& g, size_t lanes) {
  if (g.attrs.strides[1] != 1) return false;
  const bool wide = lanes >= 16;
  switch (g.window[1]) {
    case 3:
      return wide && IsSmallForOneDnn(g);
    case 5:
      return false;
    case 7:
    case 9:
      return wide;
    default:
      return true;
  }
}

class DepthwiseFloatsKernel final : public Kernel {
 public:
  DepthwiseFloatsKernel(const PrepareContext& p, const ConvGeometry& g, DepthwiseFloats depthwise)
      : depthwise_(std::move(depthwise)),
        channels_(g.in_channels),
        line_(g.in[1] * channels_),
        out_line_(g.out[1] * channels_),
        threads_(ConvProblem(g, ElementType::kF32, p.services().threads).threads),
        grain_(ParallelGrain(kGrainFactor * g.flops() / kDepthwiseFlopsPerNs /
                             static_cast<double>(depthwise_.lines()))),
        flops_(g.flops()) {}

  absl::Status Run(RunContext& r) const override {
    const WindowSpans& height = depthwise_.height();
    ParallelFor(threads_, depthwise_.lines(), grain_, [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) {
        const float* const image = r.input<float>(0) + line / height.out * height.in * line_;
        float* const out = r.output<float>(0) + line * out_line_;
        depthwise_.Compute(
            r, line, 0, channels_, [&](int64_t y) { return image + y * line_; }, channels_, out);
        depthwise_.FinishLines(r, line, line + 1, out);
      }
    });
    depthwise_.Finish(r);
    return absl::OkStatus();
  }
  std::string Implementation() const override { return "depthwise lines"; }
  double Flops() const override { return flops_; }

 private:
  const DepthwiseFloats depthwise_;
  const int64_t channels_, line_, out_line_;  // lines: of the image, of the result; in floats
  const int threads_;
  const int64_t grain_;
  const double flops_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> ConvDepthwiseKernel(PrepareContext& p,
                                                            const ConvGeometry& g,
                                                            const FusedOps& fused) {
  TENON_ASSIGN_OR_RETURN(DepthwiseFloats depthwise, DepthwiseFloats::Make(p, g, fused));
  if (!IsSlowWithOneDnn(g, depthwise.lanes())) return Unimplemented("oneDNN is faster");
  return std::make_unique<DepthwiseFloatsKernel>(p, g, std::move(depthwise));
}

}  // namespace tenon
