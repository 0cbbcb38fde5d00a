#include "kernels/convolution/conv_lines.h"

#include <algorithm>
#include <utility>

#include "env/round_up.h"
#include "env/status.h"
#include "kernels/contraction/contraction.h"
#include "kernels/contraction/packed_weights.h"
#include "kernels/contraction/tile_chain.h"
#include "kernels/convolution/conv.h"
#include "kernels/convolution/window_spans.h"
#include "kernels/interface/parallel.h"
#include "kernels/matmul/blocked_product_simd.h"

namespace tenon {
namespace {

// Floats of the output that one task computes: they stay in the second-level cache.
constexpr int64_t kTaskOutputs = 1 << 15;
// Pixels of a task, if there are as many: some groups of rows of the loops.
constexpr int64_t kTaskPixels = 48;

class ConvLinesKernelImpl final : public Kernel {
 public:
  ConvLinesKernelImpl(PrepareContext& p, const ConvGeometry& g, const FusedOps& fused,
                      std::shared_ptr<const PackedWeights> filter)
      : height_(g, 0),
        width_(g, 1),
        lines_(g.batch * g.out[0]),
        channels_(g.in_channels),
        outputs_(static_cast<size_t>(g.out_channels)),
        loops_(FindBlockedLoops()),
        filter_(std::move(filter)),
        chain_(p, fused, outputs_),
        threads_(ThreadsWorth(p.services().threads, g.flops(), filter_->bytes())),
        parts_(Parts(g, threads_)),
        flops_(g.flops()) {
    p.RequestScratch(static_cast<size_t>(threads_) * line_floats() * sizeof(float));
  }

  absl::Status Run(RunContext& r) const override {
    ParallelTasks(threads_, lines_ * parts_, [&](int thread, int64_t i) {
      const int64_t line = i / parts_, part = i % parts_;
      const int64_t first = width_.out * part / parts_, last = width_.out * (part + 1) / parts_;
      float* const padded =
          static_cast<float*>(r.scratch()) + static_cast<size_t>(thread) * line_floats();
      ComputeLine(r, line, first, last, padded);
      chain_.Apply(r, {static_cast<size_t>(line * width_.out + first),
                       static_cast<size_t>(last - first), 0, outputs_});
    });
    chain_.Finish(r);
    return absl::OkStatus();
  }
  std::string Implementation() const override { return "lines"; }
  double Flops() const override { return flops_; }

 private:
  // The number of parts of each line of the output; a task computes one.
  static int64_t Parts(const ConvGeometry& g, int threads) {
    const int64_t lines = g.batch * g.out[0], width = g.out[1];
    const int64_t for_cache = CeilDiv(width * g.out_channels, kTaskOutputs);
    const int64_t for_threads =
        std::min(CeilDiv(int64_t{2} * threads, lines), CeilDiv(width, kTaskPixels));
    return std::clamp<int64_t>(std::max(for_cache, for_threads), 1, width);
  }
  // Floats of the padded copy of what one task reads.
  size_t line_floats() const {
    const int64_t pixels = CeilDiv(width_.out, parts_);
    return static_cast<size_t>(((pixels - 1) * width_.stride + width_.window) * channels_);
  }

  // The outputs [first, last) of a line.
  void ComputeLine(RunContext& r, int64_t line, int64_t first, int64_t last, float* padded) const {
    BlockedProduct p;
    p.a_row = static_cast<size_t>(width_.stride * channels_);
    p.rows = static_cast<size_t>(last - first);
    p.columns = p.out_row = outputs_;
    p.width = loops_.columns;
    const auto line_terms = static_cast<size_t>(width_.window * channels_);
    p.panel = static_cast<size_t>(height_.window) * line_terms * p.width;
    p.part = EqualTerms(line_terms);
    p.out = r.output<float>(0) + static_cast<size_t>(line * width_.out + first) * outputs_;
    const int64_t image = line / height_.out * height_.in, y = line % height_.out;
    const TapRange taps = height_.Taps(y);
    for (int64_t tap = taps.first; tap < taps.last; ++tap) {
      const int64_t row = image + height_.Source(y, tap);
      p.w = static_cast<const float*>(filter_->data()) +
            static_cast<size_t>(tap) * line_terms * p.width;
      p.a = Padded(r.input<float>(0) + row * width_.in * channels_, first, last, padded);
      for (size_t left = line_terms; left > 0; left -= p.terms) {
        p.terms = std::min(left, loops_.most_terms);
        loops_.multiply(p);
        p.add = true;
        p.a += p.terms;
        p.w += p.terms * p.width;
      }
    }
    if (!p.add) std::fill_n(p.out, p.rows * outputs_, 0.0f);
  }

  // The pixels of a line that the outputs [first, last) need: where they lie, or in `to` with the
  // padding.
  const float* Padded(const float* line, int64_t first, int64_t last, float* to) const {
    const int64_t begin = width_.Source(first, 0);
    const int64_t end = width_.Source(last - 1, width_.window - 1) + 1;
    if (begin >= 0 && end <= width_.in) return line + begin * channels_;
    // Those in the image; none if all are padding.
    const int64_t inside = std::clamp<int64_t>(0, begin, end);
    const int64_t outside = std::clamp<int64_t>(width_.in, inside, end);
    float* at = std::fill_n(to, (inside - begin) * channels_, 0.0f);
    if (outside > inside) {
      at = std::copy_n(line + inside * channels_, (outside - inside) * channels_, at);
    }
    std::fill_n(at, (end - outside) * channels_, 0.0f);
    return to;
  }

  const WindowSpans height_, width_;
  const int64_t lines_, channels_;
  const size_t outputs_;
  const BlockedLoops loops_;
  const std::shared_ptr<const PackedWeights> filter_;
  const TileChain chain_;
  const int threads_;
  const int64_t parts_;  // after threads_
  const double flops_;
};

// Where these loops are faster than oneDNN's direct kernel for AVX2. Two threads of Sapphire
// Rapids, its time over theirs: 1x3200x1, 1x251, 80 filters: 1.57; 1x8000x1, 1x80, 32, strides of
// 4: 1.55; 22x1000x1, 1x125, 8: 1.47; 8x1000x4, 1x32, 16: 1.39; 8x1000x1, 1x48, 16: 1.18,
// 1x32: 1.03; but 64 filters of 1x64 or of 1x32x3: 0.92, 0.96. That for AVX-512 is faster
// (conv_padded.cc).
bool SuitsLines(const ConvGeometry& g) {
  constexpr size_t kAvx2Columns = 16;
  const bool many_filters = g.out_channels > 32 && g.out_channels % 32 == 0;
  return FindBlockedLoops().columns <= kAvx2Columns && g.in_channels <= 4 &&
         g.window[1] * g.in_channels >= 48 && !many_filters;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> ConvLinesKernel(PrepareContext& p, const ConvGeometry& g,
                                                        const FusedOps& fused) {
  if (!HasConstantFilter(p, g) || g.attrs.dilations[1] != 1 || !SuitsLines(g)) {
    return Unimplemented("not a window with long lines of few channels and a constant filter");
  }
  TENON_ASSIGN_OR_RETURN(
      auto filter, PackConstant(*p.constant(1),
                                FilterPanels(g, FindBlockedLoops().columns, p.services().threads)));
  p.InputNotRead(1);
  return std::make_unique<ConvLinesKernelImpl>(p, g, fused, std::move(filter));
}

}  // namespace tenon
