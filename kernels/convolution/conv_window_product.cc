#include "kernels/convolution/conv_window_product.h"

#include <algorithm>
#include <utility>

#include "env/round_up.h"
#include "env/status.h"
#include "kernels/contraction/contraction.h"
#include "kernels/contraction/packed_weights.h"
#include "kernels/contraction/register_chain.h"
#include "kernels/contraction/tile_chain.h"
#include "kernels/convolution/conv.h"
#include "kernels/convolution/window_spans.h"
#include "kernels/interface/parallel.h"
#include "kernels/matmul/blocked_product_simd.h"
#include "kernels/matmul/row_product_simd.h"

namespace tenon {
namespace {

// Of a part of a line.
constexpr int64_t kLeastPixels = 24;

class WindowProductKernel final : public Kernel {
 public:
  WindowProductKernel(PrepareContext& p, const ConvGeometry& g, const FusedOps& fused, size_t width,
                      std::shared_ptr<const PackedWeights> filter)
      : height_(g, 0),
        width_(g, 1),
        lines_(g.batch * g.out[0]),
        channels_(g.in_channels),
        outputs_(g.out_channels),
        panel_width_(width),
        multiply_(FindRowProduct()),
        filter_(std::move(filter)),
        first_(PlanRegisterChain(p, fused)),
        rest_(p, first_.RestOf(fused), static_cast<size_t>(outputs_)),
        threads_(ThreadsWorth(p.services().threads, g.flops(), filter_->bytes())),
        parts_(std::clamp<int64_t>(CeilDiv(int64_t{2} * threads_, lines_), 1,
                                   CeilDiv(width_.out, kLeastPixels))),
        flops_(g.flops()) {
    p.RequestScratch(static_cast<size_t>(threads_) * own_floats() * sizeof(float));
  }

  absl::Status Run(RunContext& r) const override {
    ParallelForRanges(threads_, lines_ * parts_, 1, [&](int range, int64_t begin, int64_t end) {
      float* const own =
          static_cast<float*>(r.scratch()) + static_cast<size_t>(range) * own_floats();
      for (int64_t i = begin; i < end; ++i) {
        const int64_t line = i / parts_, part = i % parts_;
        const int64_t first = width_.out * part / parts_, last = width_.out * (part + 1) / parts_;
        ComputeLine(r, line, first, last, own);
        rest_.Apply(r, {static_cast<size_t>(line * width_.out + first),
                        static_cast<size_t>(last - first), 0, static_cast<size_t>(outputs_)});
      }
    });
    rest_.Finish(r);
    return absl::OkStatus();
  }
  std::string Implementation() const override { return "rows of windows"; }
  double Flops() const override { return flops_; }

 private:
  // Floats of a line of the image that the outputs [first, last) need, with the padding.
  int64_t line_floats(int64_t first, int64_t last) const {
    return ((last - first - 1) * width_.stride + width_.window) * channels_;
  }
  size_t own_floats() const {
    const int64_t lines = height_.window * line_floats(0, CeilDiv(width_.out, parts_));
    return RoundUp(static_cast<size_t>(lines), kCacheLine / sizeof(float));
  }

  // The outputs [first, last) of a line.
  void ComputeLine(RunContext& r, int64_t line, int64_t first, int64_t last, float* own) const {
    const auto size = [](int64_t n) { return static_cast<size_t>(n); };
    const int64_t y = line % height_.out;
    const TapRange taps = height_.Taps(y);
    const int64_t top = line / height_.out * height_.in + height_.Source(y, taps.first);
    RowProduct p;
    p.a_row = size(width_.stride * channels_);
    p.rows = size(last - first);
    p.columns = p.out_row = size(outputs_);
    p.terms = size(width_.window * channels_);
    p.part = EqualTerms(p.terms);
    p.segments = size(std::max<int64_t>(taps.last - taps.first, 0));
    p.width = panel_width_;
    p.panel = size(height_.window) * p.terms * p.width;
    p.w = static_cast<const float*>(filter_->data()) + size(taps.first) * p.terms * p.width;
    const int64_t image_line = width_.in * channels_;
    if (first >= width_.inside_begin && last <= width_.inside_end) {
      p.a = r.input<float>(0) + top * image_line + width_.Source(first, 0) * channels_;
      p.segment_step = size(height_.dilation * image_line);
    } else {
      const int64_t floats = line_floats(first, last);
      for (size_t s = 0; s < p.segments; ++s) {
        const int64_t from = top + static_cast<int64_t>(s) * height_.dilation;
        CopyPadded(r.input<float>(0) + from * image_line, width_.Source(first, 0) * channels_,
                   floats, own + s * size(floats));
      }
      p.a = own;
      p.segment_step = size(floats);
    }
    p.clamp_low = first_.clamp_low;
    p.clamp_high = first_.clamp_high;
    if (first_.bias >= 0) p.bias = r.input<float>(first_.bias);
    const int64_t at = (line * width_.out + first) * outputs_;
    if (first_.addend >= 0) p.addend = r.input<float>(first_.addend) + at;
    p.out = r.output<float>(0) + at;
    multiply_(p);
  }

  // `floats` of a line of the image, from number `begin` on; 0 outside of it.
  void CopyPadded(const float* line, int64_t begin, int64_t floats, float* to) const {
    const int64_t inside = std::clamp<int64_t>(-begin, 0, floats);
    const int64_t outside = std::clamp<int64_t>(width_.in * channels_ - begin, inside, floats);
    std::fill_n(to, inside, 0.0f);
    std::copy_n(line + begin + inside, outside - inside, to + inside);
    std::fill_n(to + outside, floats - outside, 0.0f);
  }

  const WindowSpans height_, width_;
  const int64_t lines_, channels_, outputs_;
  const size_t panel_width_;
  const RowProductFn multiply_;
  const std::shared_ptr<const PackedWeights> filter_;
  const RegisterChain first_;
  const TileChain rest_;
  const int threads_;
  const int64_t parts_;  // of a line
  const double flops_;
};

// Two threads of Zen 4, the time of oneDNN's kernel over that of these loops: 28x28x1, 3x3, 32
// filters: 1.34; 14x14x6, 5x5, 16: 1.45; 84x84x4, 8x8, strides of 4, 32: 1.23; 32x32x3, 3x3, 32:
// 1.19; 1x94x32, 1x5, 64: 1.11; but 224x224x3, 3x3, strides of 2, 32: 0.81 to 1.06, 7x7, 64: 0.92.
// With AVX2, 14x14x6, 5x5, 16: 1.11; 1x94x32, 1x5, 64: 1.59; but 28x28x1, 3x3, 32: 0.88; 32x32x3:
// 0.87.
bool HasFewChannels(const ConvGeometry& g) {
  constexpr int64_t kMostChannels = 32;
  constexpr double kMostFlops = 2e7;
  constexpr size_t kAvx2Columns = 16;
  const int64_t least_channels = FindBlockedLoops().columns <= kAvx2Columns ? 5 : 1;
  return g.in_channels >= least_channels && g.in_channels <= kMostChannels &&
         g.flops() <= kMostFlops &&
         g.window_positions() * g.in_channels <= static_cast<int64_t>(kPartTerms);
}

// One-dimensional windows whose filters do not fill vectors: oneDNN computes as many as would. Two
// threads of Zen 4, the time of oneDNN's kernel over that of these loops: 200x128, 1x4, 72 filters:
// 1.28; 200x300, 1x3, 100: 1.23; 500x50, 1x5, 50: 1.25; 48x64, 1x5, 40: 1.43; 400x100, 1x3, 300:
// 1.04; 64x128, 1x3, 100: 0.94; but 200x128, 1x3, 128: 1.00; 64x128, 1x17, 192: 0.71. With AVX2,
// over that of gathered rows: 1.10, -, 1.19, 1.43, 1.12, 1.00.
bool IsOddLine(const ConvGeometry& g) {
  constexpr int64_t kVector = 16, kMostTerms = 2048;
  return g.window[0] == 1 && g.out_channels % kVector != 0 &&
         g.window[1] * g.in_channels <= kMostTerms && !WindowsShareSets(g);
}

bool SuitsWindowProduct(const ConvGeometry& g) {
  constexpr int64_t kLeastOutputs = 16, kLeastLine = 4;
  return g.window_positions() > 1 && g.out_channels >= kLeastOutputs && g.out[1] >= kLeastLine &&
         (g.attrs.dilations[1] == 1 || g.window[1] == 1) && (HasFewChannels(g) || IsOddLine(g));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> ConvWindowProductKernel(PrepareContext& p,
                                                                const ConvGeometry& g,
                                                                const FusedOps& fused) {
  if (!HasConstantFilter(p, g) || !SuitsWindowProduct(g)) {
    return Unimplemented(
        "neither few channels nor an odd number of one-dimensional filters, or no constant filter");
  }
  const size_t width = RowPanelsOf(static_cast<size_t>(g.out_channels)).width;
  TENON_ASSIGN_OR_RETURN(
      auto filter, PackConstant(*p.constant(1), FilterPanels(g, width, p.services().threads)));
  p.InputNotRead(1);
  return std::make_unique<WindowProductKernel>(p, g, fused, width, std::move(filter));
}

}  // namespace tenon
