#include "kernels/convolution/conv_pixel_vectors.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "env/round_up.h"
#include "env/status.h"
#include "kernels/contraction/contraction.h"
#include "kernels/contraction/packed_weights.h"
#include "kernels/contraction/register_chain.h"
#include "kernels/contraction/tile_chain.h"
#include "kernels/convolution/conv.h"
#include "kernels/convolution/pixel_vectors_simd.h"
#include "kernels/convolution/window_spans.h"
#include "kernels/interface/parallel.h"

namespace tenon {
namespace {

constexpr int64_t kMostLanes = 16;
// Of a sum with one accumulator.
constexpr int64_t kMostSumTerms = 256;
// Of the output that one task computes; they stay in the first-level cache, with the lines of the
// image that they need.
constexpr int64_t kTaskFloats = 4096;

// With more channels, their numbers are not copied apart.
constexpr int64_t kMostPlanes = 4;

// Vectors until a pixel begins where a vector does.
int64_t PeriodOf(int64_t channels, int64_t lanes) { return channels / std::gcd(channels, lanes); }

// Floats from a period's first pixel to its last.
int64_t PeriodReach(const ConvGeometry& g, int64_t pixel_floats) {
  const auto lanes = static_cast<int64_t>(FindPixelVectorLoops().lanes);
  const int64_t pixels = PeriodOf(g.out_channels, lanes) * lanes / g.out_channels;
  return (pixels - 1) * g.attrs.strides[1] * pixel_floats;
}

// Whether the pixels of a period lie too far apart for a vector if channels are adjacent.
bool CopiesChannelsApart(const ConvGeometry& g) {
  return g.in_channels <= kMostPlanes &&
         PeriodReach(g, g.in_channels) >= static_cast<int64_t>(FindPixelVectorLoops().lanes);
}

class PixelVectorsKernel final : public Kernel {
 public:
  PixelVectorsKernel(PrepareContext& p, const ConvGeometry& g, const FusedOps& fused,
                     std::shared_ptr<const PackedWeights> filter)
      : height_(g, 0),
        width_(g, 1),
        images_(g.batch),
        channels_(g.in_channels),
        outputs_(g.out_channels),
        pixel_floats_(CopiesChannelsApart(g) ? 1 : channels_),
        loops_(FindPixelVectorLoops()),
        period_(PeriodOf(outputs_, static_cast<int64_t>(loops_.lanes))),
        filter_(std::move(filter)),
        first_(PlanRegisterChain(p, fused)),
        rest_(p, first_.RestOf(fused), static_cast<size_t>(outputs_)),
        threads_(ThreadsWorth(p.services().threads, g.flops(), filter_->bytes())),
        task_lines_(std::clamp<int64_t>(kTaskFloats / (width_.out * outputs_), 1, height_.out)),
        flops_(g.flops()) {
    const auto lanes = static_cast<int64_t>(loops_.lanes);
    const int64_t step = width_.stride * pixel_floats_;
    for (int64_t i = 0; i < period_ * lanes; ++i) {
      pixels_.push_back(static_cast<int32_t>(i / outputs_ * step));
    }
    // Whole periods, and a vector beyond what they need.
    const int64_t period_pixels = period_ * lanes / outputs_;
    const int64_t pixels = CeilDiv(width_.out, period_pixels) * period_pixels;
    plane_floats_ =
        RoundUp(static_cast<size_t>(pixels * step +
                                    width_.window * width_.dilation * pixel_floats_ + lanes),
                static_cast<size_t>(kMostLanes));
    std::vector<int64_t> rows;  // of the filter, for each term
    term_lanes_.reserve(static_cast<size_t>(width_.window * channels_));
    int64_t begin = 0;
    for (int64_t plane = 0; plane < planes(); ++plane) {
      for (int64_t t = 0; t < width_.window; ++t) {
        for (int64_t c = 0; c < pixel_floats_; ++c) {
          const int64_t offset =
              plane * static_cast<int64_t>(plane_floats_) + t * width_.dilation * pixel_floats_ + c;
          if (groups_.empty() || pixels_.back() + offset - begin >= lanes) {
            begin = offset;
            groups_.push_back({.offset = static_cast<size_t>(begin),
                               .lanes = term_lanes_.data() + term_lanes_.size()});
          }
          term_lanes_.push_back(static_cast<int32_t>(offset - begin));
          ++groups_.back().terms;
          rows.push_back(t * channels_ + plane + c);
        }
      }
    }
    const auto* const plain = static_cast<const float*>(filter_->data());
    for (int64_t y = 0; y < height_.window; ++y) {
      for (const int64_t row : rows) {
        const float* const outputs = plain + (y * width_.window * channels_ + row) * outputs_;
        for (int64_t i = 0; i < period_ * lanes; ++i) expanded_.push_back(outputs[i % outputs_]);
      }
    }
    p.RequestScratch(static_cast<size_t>(threads_) * own_floats() * sizeof(float));
  }

  absl::Status Run(RunContext& r) const override {
    const int64_t parts = CeilDiv(height_.out, task_lines_);
    ParallelTasks(threads_, images_ * parts, [&](int thread, int64_t i) {
      float* const own =
          static_cast<float*>(r.scratch()) + static_cast<size_t>(thread) * own_floats();
      const int64_t first = height_.out * (i % parts) / parts;
      const int64_t last = height_.out * (i % parts + 1) / parts;
      ComputeLines(r, i / parts, first, last, own);
      rest_.Apply(
          r, {static_cast<size_t>((i / parts * height_.out + first) * width_.out),
              static_cast<size_t>((last - first) * width_.out), 0, static_cast<size_t>(outputs_)});
    });
    rest_.Finish(r);
    return absl::OkStatus();
  }
  std::string Implementation() const override { return "pixel vectors"; }
  double Flops() const override { return flops_; }
  size_t HeldBytes() const override { return expanded_.size() * sizeof(float); }

 private:
  // Of each channel, or of all channels together.
  int64_t planes() const { return channels_ / pixel_floats_; }
  size_t line_floats() const { return static_cast<size_t>(planes()) * plane_floats_; }
  // Lines of the image that the lines of a task need.
  int64_t source_lines(int64_t lines) const {
    return (lines - 1) * height_.stride + (height_.window - 1) * height_.dilation + 1;
  }
  size_t own_floats() const {
    return static_cast<size_t>(source_lines(task_lines_)) * line_floats();
  }

  // The lines [first, last) of an image.
  void ComputeLines(RunContext& r, int64_t image, int64_t first, int64_t last, float* own) const {
    const int64_t top = height_.Source(first, 0);
    CopyLines(r.input<float>(0) + image * height_.in * width_.in * channels_, top,
              source_lines(last - first), own);
    std::array<float, kMostPeriodVectors * kMostLanes> bias;
    PixelVectors p;
    p.groups = groups_.data();
    p.num_groups = groups_.size();
    p.period = static_cast<size_t>(period_);
    p.period_step = pixels_.size() / static_cast<size_t>(outputs_) *
                    static_cast<size_t>(width_.stride * pixel_floats_);
    p.pixels = pixels_.data();
    p.clamp_low = first_.clamp_low;
    p.clamp_high = first_.clamp_high;
    p.floats = static_cast<size_t>(width_.out * outputs_);
    if (first_.bias >= 0) {
      const float* const from = r.input<float>(first_.bias);
      for (size_t i = 0; i < pixels_.size(); ++i) bias[i] = from[i % static_cast<size_t>(outputs_)];
      p.bias = bias.data();
    }
    absl::InlinedVector<const float*, 16> rows, filters;
    const size_t row_weights = term_lanes_.size() * pixels_.size();
    for (int64_t line = first; line < last; ++line) {
      rows.clear();
      filters.clear();
      const TapRange taps = height_.Taps(line);
      for (int64_t tap = taps.first; tap < taps.last; ++tap) {
        rows.push_back(own + static_cast<size_t>(height_.Source(line, tap) - top) * line_floats());
        filters.push_back(expanded_.data() + static_cast<size_t>(tap) * row_weights);
      }
      p.rows = rows.data();
      p.filters = filters.data();
      p.num_rows = rows.size();
      p.out = r.output<float>(0) + (image * height_.out + line) * width_.out * outputs_;
      loops_.compute(p);
    }
  }

  // Lines of the image, from number `top` on, with the padding at both ends; none outside of it.
  void CopyLines(const float* image, int64_t top, int64_t lines, float* to) const {
    const size_t before = std::min(static_cast<size_t>(width_.pad * pixel_floats_), plane_floats_);
    const size_t floats =
        std::min(static_cast<size_t>(width_.in * pixel_floats_), plane_floats_ - before);
    for (int64_t i = 0; i < lines; ++i) {
      const bool inside = top + i >= 0 && top + i < height_.in;
      const float* const line = image + (top + i) * width_.in * channels_;
      for (int64_t plane = 0; plane < planes(); ++plane, to += plane_floats_) {
        if (!inside) continue;
        std::fill_n(to, before, 0.0f);
        if (planes() == 1) {
          std::copy_n(line, floats, to + before);
        } else {
          const float* from = line + plane;
          for (size_t x = 0; x < floats; ++x, from += channels_) to[before + x] = *from;
        }
        std::fill(to + before + floats, to + plane_floats_, 0.0f);
      }
    }
  }

  const WindowSpans height_, width_;
  const int64_t images_, channels_, outputs_;
  const int64_t pixel_floats_;  // adjacent channels of a copied line: all or one
  const PixelVectorLoops loops_;
  const int64_t period_;  // vectors
  const std::shared_ptr<const PackedWeights> filter_;
  const RegisterChain first_;
  const TileChain rest_;
  const int threads_;
  const int64_t task_lines_;
  const double flops_;
  std::vector<int32_t> pixels_, term_lanes_;  // what PixelVectors and PixelTerms point to
  std::vector<PixelTerms> groups_;
  std::vector<float> expanded_;  // the filter, each term's output channels over a period
  size_t plane_floats_ = 0;      // of a copied line of the image
};

// One thread of Zen 4, the time of oneDNN's kernel over that of these loops: 28x28x1, 5x5, 6
// filters: 2.0, 12: 1.5; 64x64x1, 3x3, 2: 3.0, 8: 1.5, 12: 1.2; 64x64x3, 3x3, strides of 2, 8: 1.8;
// 64x64x2, 5x5, 2: 4.5, 8: 1.4, but 10: 0.87, 12: 0.96. With AVX2, 28x28x1, 5x5, 6: 1.8.
bool SuitsPixelVectors(const ConvGeometry& g) {
  constexpr int64_t kManyOutputs = 8, kFewTerms = 36;
  const auto lanes = static_cast<int64_t>(FindPixelVectorLoops().lanes);
  const int64_t terms = g.window_positions() * g.in_channels;
  return lanes <= kMostLanes && g.out_channels < lanes &&
         PeriodOf(g.out_channels, lanes) <= static_cast<int64_t>(kMostPeriodVectors) &&
         PeriodReach(g, CopiesChannelsApart(g) ? 1 : g.in_channels) < lanes &&
         g.window_positions() > 1 &&
         terms <= (g.out_channels > kManyOutputs ? kFewTerms : kMostSumTerms);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> ConvPixelVectorsKernel(PrepareContext& p,
                                                               const ConvGeometry& g,
                                                               const FusedOps& fused) {
  if (!HasConstantFilter(p, g) || !SuitsPixelVectors(g) ||
      PlanRegisterChain(p, fused).addend >= 0) {
    return Unimplemented("not few channels and filters, or not a constant filter");
  }
  TENON_ASSIGN_OR_RETURN(
      auto filter,
      PackConstant(*p.constant(1), FilterPanels(g, static_cast<size_t>(g.out_channels), 1)));
  p.InputNotRead(1);
  return std::make_unique<PixelVectorsKernel>(p, g, fused, std::move(filter));
}

}  // namespace tenon
