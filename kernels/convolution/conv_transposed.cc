#include "kernels/convolution/conv_transposed.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "env/round_up.h"
#include "env/status.h"
#include "kernels/contraction/contraction.h"
#include "kernels/contraction/packed_weights.h"
#include "kernels/convolution/conv.h"
#include "kernels/convolution/conv_gradient.h"
#include "kernels/convolution/window_rows.h"
#include "kernels/interface/parallel.h"
#include "kernels/matmul/blocked_product_simd.h"
#include "primitive_cache/convolution_gradient.h"

namespace tenon {
namespace {

// One dimension of a phase: the outputs first, first + stride, …, of which there are `count`. The
// taps first_tap, first_tap + stride, … reach them, `taps` of them; the last of these reads pixel
// `source` for the first output, the one before it the next pixel.
struct PhaseSpan {
  int64_t first, count, first_tap, taps, source;
};

PhaseSpan SpanOf(const ConvGeometry& g, size_t dim, int64_t phase) {
  const int64_t stride = g.attrs.strides[dim], pad = g.pads_begin[dim];
  PhaseSpan s;
  s.first_tap = phase;
  s.taps = CeilDiv(g.window[dim] - phase, stride);
  // Tap t of pixel o reaches output o * stride + t - pad.
  const int64_t pixel = CeilDiv(std::max<int64_t>(pad - phase, 0), stride);
  s.first = pixel * stride + phase - pad;
  s.count = s.first < g.in[dim] ? CeilDiv(g.in[dim] - s.first, stride) : 0;
  s.source = pixel - (s.taps - 1);
  return s;
}

using Phase = std::array<PhaseSpan, 2>;

std::vector<Phase> PhasesOf(const ConvGeometry& g) {
  std::vector<Phase> phases;
  for (int64_t y = 0; y < g.attrs.strides[0]; ++y) {
    for (int64_t x = 0; x < g.attrs.strides[1]; ++x) {
      phases.push_back({SpanOf(g, 0, y), SpanOf(g, 1, x)});
    }
  }
  return phases;
}

// The rows of a phase's product: pixels around each output.
class PhaseRows final : public WindowRows {
 public:
  PhaseRows(const ConvGeometry& g, const Phase& phase)
      : WindowRows(Windows(g, phase)), phase_(phase), strides_(g.attrs.strides), to_(g.in) {}

  bool Scatters() const override { return true; }
  int64_t OutputRow(int64_t row) const override {
    const int64_t x = row % g_.out[1], y = row / g_.out[1] % g_.out[0];
    const int64_t n = row / g_.out[1] / g_.out[0];
    return (n * to_[0] + phase_[0].first + y * strides_[0]) * to_[1] + phase_[1].first +
           x * strides_[1];
  }

 private:
  static ConvGeometry Windows(const ConvGeometry& g, const Phase& phase) {
    ConvGeometry w = g;
    w.in = g.out;
    w.in_channels = g.out_channels;
    for (size_t i = 0; i < phase.size(); ++i) {
      w.out[i] = phase[i].count;
      w.window[i] = phase[i].taps;
      w.pads_begin[i] = -phase[i].source;
      w.attrs.strides[i] = 1;
    }
    return w;
  }

  const Phase phase_;
  const Dims strides_, to_;
};

// The panels of each phase's matrix, which has a row for each channel of each pixel of its window.
class PhasePanels final : public PackedLayout {
 public:
  PhasePanels(const ConvGeometry& g, size_t width, int threads)
      : taps_across_(static_cast<size_t>(g.window[1])),
        in_(static_cast<size_t>(g.out_channels)),
        out_(static_cast<size_t>(g.in_channels)),
        width_(width),
        threads_(threads),
        strides_{g.attrs.strides[0], g.attrs.strides[1]},
        phases_(PhasesOf(g)),
        key_(absl::StrCat("phases of ", absl::StrJoin(g.attrs.strides, ","), " ",
                          absl::StrJoin(g.window, ","), " ", in_, "x", out_, "/", width)) {}

  const std::string& key() const override { return key_; }
  size_t bytes() const override { return At(phases_.size()); }
  absl::Status Pack(const void* plain, void* packed) const override {
    Move(static_cast<float*>(packed),
         [from = static_cast<const float*>(plain)](float& to, size_t at) { to = from[at]; });
    return absl::OkStatus();
  }
  absl::Status Unpack(const void* packed, void* plain) const override {
    Move(static_cast<const float*>(packed),
         [to = static_cast<float*>(plain)](const float& from, size_t at) { to[at] = from; });
    return absl::OkStatus();
  }

  size_t Rows(const Phase& phase) const {
    return static_cast<size_t>(phase[0].taps * phase[1].taps) * in_;
  }
  // The bytes before the panels of phase i.
  size_t At(size_t i) const {
    size_t floats = 0;
    for (size_t k = 0; k < i; ++k) floats += Rows(phases_[k]) * RoundUp(out_, width_);
    return floats * sizeof(float);
  }

 private:
  // move(element of the panels, its position in the plain filter); fills panels up.
  template <typename P, typename F>
  void Move(P* packed, F move) const {
    const size_t panels = (out_ + width_ - 1) / width_;
    ParallelFor(threads_, static_cast<int64_t>(panels), 1, [&](int64_t begin, int64_t end) {
      for (auto panel = static_cast<size_t>(begin); panel < static_cast<size_t>(end); ++panel) {
        for (size_t i = 0; i < phases_.size(); ++i) {
          MovePanel(phases_[i], panel,
                    packed + At(i) / sizeof(float) + panel * Rows(phases_[i]) * width_, move);
        }
      }
    });
  }
  template <typename P, typename F>
  void MovePanel(const Phase& phase, size_t panel, P* at, F move) const {
    const size_t first = panel * width_, count = std::min(width_, out_ - first);
    for (int64_t y = phase[0].taps; y-- > 0;) {
      for (int64_t x = phase[1].taps; x-- > 0;) {
        const auto down = static_cast<size_t>(phase[0].first_tap + y * strides_[0]);
        const auto across = static_cast<size_t>(phase[1].first_tap + x * strides_[1]);
        const size_t tap = (down * taps_across_ + across) * out_ * in_;
        for (size_t c = 0; c < in_; ++c, at += width_) {
          for (size_t o = 0; o < count; ++o) move(at[o], tap + (first + o) * in_ + c);
          if constexpr (!std::is_const_v<P>) std::fill(at + count, at + width_, 0.0f);
        }
      }
    }
  }

  const size_t taps_across_, in_, out_, width_;
  const int threads_;
  const std::array<int64_t, 2> strides_;
  const std::vector<Phase> phases_;
  const std::string key_;
};

class PhasesKernel final : public Kernel {
 public:
  PhasesKernel(std::vector<std::unique_ptr<Kernel>> phases, double flops)
      : phases_(std::move(phases)), flops_(flops) {}
  absl::Status Run(RunContext& r) const override {
    for (const auto& phase : phases_) TENON_RETURN_IF_ERROR(phase->Run(r));
    return absl::OkStatus();
  }
  std::string Implementation() const override { return "gathered phases"; }
  double Flops() const override { return flops_; }

 private:
  const std::vector<std::unique_ptr<Kernel>> phases_;
  const double flops_;
};

// With fewer channels, oneDNN's direct kernel for AVX2 is as fast, and with large filters it is
// slow (two threads, oneDNN's time over that of phases): 4x4x256x512 to 8x8 pixels 1.23,
// 4x4x128x256 to 16x16 1.31, 2x2x64x128 to 56x56 1.13, 3x3x64x128 to 64x64 1.21, 5x5x128x256 1.17;
// but 4x4x64x128 to 32x32 0.84, 2x2x32x64 0.88, 3x3x64x64 0.98, and without strides 0.42 to 0.79.
constexpr int64_t kLeastPhaseInputs = 128, kLeastPhaseOutputs = 64, kSmallPhaseWindow = 3 * 3;
constexpr int64_t kLargePhaseFilter = 3 * 3 * 128 * 128;

bool SuitsPhases(const ConvGeometry& g) {
  return !All(g.attrs.strides, 1) && g.out_channels >= kLeastPhaseInputs &&
         g.in_channels >= kLeastPhaseOutputs &&
         (g.window_positions() <= kSmallPhaseWindow || g.filter_elements() >= kLargePhaseFilter);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> ConvTransposedKernel(PrepareContext& p,
                                                             const ConvGeometry& g) {
  if (!HasConstantFilter(p, g) || !All(g.attrs.dilations, 1) || g.window[0] < g.attrs.strides[0] ||
      g.window[1] < g.attrs.strides[1] || !SuitsPhases(g)) {
    return Unimplemented("not a dense constant filter whose phases are products");
  }
  const ConvolutionGradientProblem problem{ConvolutionGradientProblem::Of::kSource,
                                           ConvProblem(g, ElementType::kF32, p.services().threads)};
  TENON_ASSIGN_OR_RETURN(const auto gradient, GetConvolutionGradient(problem, p.services().cache));
  if (gradient->implementation() != "jit:avx2" && !ComputesByGemm(*gradient)) {
    return Unimplemented("oneDNN is as fast");
  }
  const size_t width = FindBlockedLoops().columns;
  const auto layout = std::make_shared<PhasePanels>(g, width, problem.forward.threads);
  const std::vector<Phase> phases = PhasesOf(g);
  std::vector<std::unique_ptr<Kernel>> kernels;
  size_t scratch = 0;
  for (size_t i = 0; i < phases.size(); ++i) {
    PanelSums product;
    product.m = g.batch * phases[i][0].count * phases[i][1].count;
    if (product.m == 0) continue;
    product.n = g.in_channels;
    product.k = static_cast<int64_t>(layout->Rows(phases[i]));
    product.threads = problem.forward.threads;
    product.panels.width = width;
    product.panels.panel_bytes = layout->Rows(phases[i]) * width * sizeof(float);
    product.input = kOutBackprop;
    product.panels_at = layout->At(i);
    TENON_ASSIGN_OR_RETURN(auto kernel, BlockedKernel(p, product, layout, {},
                                                      std::make_unique<PhaseRows>(g, phases[i])));
    scratch = std::max(scratch, p.scratch_bytes());
    kernels.push_back(std::move(kernel));
  }
  p.RequestScratch(scratch);
  return std::make_unique<PhasesKernel>(std::move(kernels), g.flops());
}

}  // namespace tenon
