#include "kernels/convolution/depthwise_doubles.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "env/round_up.h"
#include "env/status.h"
#include "kernels/convolution/image_positions.h"
#include "kernels/interface/parallel.h"
#include "kernels/matmul/dense_product_simd.h"

namespace tenon {
namespace {

// Of one spatial dimension: the taps that belong to each coordinate of one side, with the
// coordinate of the other side that they meet there.
struct AxisTaps {
  struct Meeting {
    int64_t tap, other;
  };
  std::vector<std::vector<Meeting>> of;
  // Neighboring coordinates with the same taps, from each to the next of which the other side's
  // coordinates move by `step`.
  struct Run {
    int64_t first, count, step;
  };
  std::vector<Run> runs;

  AxisTaps(const ConvGeometry& g, size_t d, bool of_input)
      : of(static_cast<size_t>(of_input ? g.in[d] : g.out[d])) {
    for (int64_t o = 0; o < g.out[d]; ++o) {
      for (int64_t w = 0; w < g.window[d]; ++w) {
        const int64_t i = o * g.attrs.strides[d] + w * g.attrs.dilations[d] - g.pads_begin[d];
        if (i < 0 || i >= g.in[d]) continue;
        of_input ? of[static_cast<size_t>(i)].push_back({w, o})
                 : of[static_cast<size_t>(o)].push_back({w, i});
      }
    }
    for (auto& meetings : of) {
      std::sort(meetings.begin(), meetings.end(),
                [](const Meeting& a, const Meeting& b) { return a.tap < b.tap; });
    }
    for (size_t i = 0; i < of.size(); ++i) {
      if (!runs.empty() && Follows(of[i - 1], of[i], runs.back())) {
        ++runs.back().count;
      } else {
        runs.push_back({static_cast<int64_t>(i), 1, 0});
      }
    }
  }

 private:
  static bool Follows(const std::vector<Meeting>& before, const std::vector<Meeting>& now,
                      Run& run) {
    if (before.size() != now.size()) return false;
    if (run.count == 1 && !now.empty()) run.step = now[0].other - before[0].other;
    for (size_t k = 0; k < now.size(); ++k) {
      if (now[k].tap != before[k].tap || now[k].other != before[k].other + run.step) return false;
    }
    return true;
  }
};

class DepthwiseDoublesKernel final : public Kernel {
 public:
  DepthwiseDoublesKernel(ConvGeometry g, DepthwisePass pass, int threads)
      : g_(std::move(g)),
        pass_(pass),
        rows_(g_, 0, pass == DepthwisePass::kInputGradient),
        columns_(g_, 1, pass == DepthwisePass::kInputGradient),
        channels_(g_.out_channels),
        multiplier_(g_.in_channels == 0 ? 1 : g_.out_channels / g_.in_channels),
        loops_(FindDenseLoops<double>()),
        threads_(threads) {}

  // Of the image with each channel as often as it has outputs.
  int64_t WideNumbers() const {
    return multiplier_ == 1 ? 0 : g_.batch * ProductOf(g_.in) * channels_;
  }

  absl::Status Run(RunContext& r) const override {
    double* const out = r.output<double>(0);
    double* const wide = static_cast<double*>(r.scratch());
    if (pass_ == DepthwisePass::kInputGradient) {
      double* const to = multiplier_ == 1 ? out : wide;
      Slide(r.input<double>(2), r.input<double>(1), g_.out, to);
      if (multiplier_ > 1) Narrow(wide, out);
      return absl::OkStatus();
    }
    const double* image = r.input<double>(0);
    if (multiplier_ > 1) {
      Widen(image, wide);
      image = wide;
    }
    if (pass_ == DepthwisePass::kForward) {
      Slide(image, r.input<double>(1), g_.in, out);
    } else {
      OfFilter(image, r.input<double>(2), out);
    }
    return absl::OkStatus();
  }
  std::string Implementation() const override { return "vector"; }
  double Flops() const override { return g_.flops(); }

 private:
  using Offsets = std::vector<ptrdiff_t>;

  // At each position of one side, the sum of what the taps meet on the other, times the taps.
  void Slide(const double* from, const double* filter, const Dims& from_size, double* to) const {
    const auto height = static_cast<int64_t>(rows_.of.size());
    const auto width = static_cast<int64_t>(columns_.of.size());
    const double ns = 5 + 0.1 * static_cast<double>(width * channels_ * g_.window_positions());
    ParallelFor(threads_, g_.batch * height, ParallelGrain(ns), [&](int64_t begin, int64_t end) {
      Offsets places, taps;
      for (int64_t row = begin; row < end; ++row) {
        const double* const image = from + row / height * from_size[0] * from_size[1] * channels_;
        for (const AxisTaps::Run& run : columns_.runs) {
          places.clear();
          taps.clear();
          for (const auto& y : rows_.of[static_cast<size_t>(row % height)]) {
            for (const auto& x : columns_.of[static_cast<size_t>(run.first)]) {
              places.push_back((y.other * from_size[1] + x.other) * channels_);
              taps.push_back((y.tap * g_.window[1] + x.tap) * channels_);
            }
          }
          loops_.multiply_rows({.a = image,
                                .a_terms = places.data(),
                                .a_step = run.step * channels_,
                                .b = filter,
                                .b_terms = taps.data(),
                                .terms = taps.size(),
                                .rows = static_cast<size_t>(run.count),
                                .columns = static_cast<size_t>(channels_),
                                .out = to + (row * width + run.first) * channels_,
                                .out_step = channels_});
        }
      }
    });
  }

  // At each tap, the sum of the products of all that it meets.
  void OfFilter(const double* image, const double* dy, double* to) const {
    constexpr int64_t kMostChannels = 128;  // of a task
    const int64_t stride = g_.attrs.strides[1], parts = CeilDiv(channels_, kMostChannels);
    Offsets in_image, in_dy;
    for (int64_t i = 0; i < g_.out[1]; ++i) {
      in_image.push_back(i * stride * channels_);
      in_dy.push_back(i * channels_);
    }
    const double ns = 50 + 0.1 * static_cast<double>(g_.batch * g_.out_positions() *
                                                     std::min(channels_, kMostChannels));
    ParallelFor(threads_, g_.window_positions() * parts, ParallelGrain(ns),
                [&](int64_t begin, int64_t end) {
                  for (int64_t task = begin; task < end; ++task) {
                    const int64_t tap = task / parts, first = task % parts * kMostChannels;
                    const int64_t count = std::min(kMostChannels, channels_ - first);
                    SumOfTap(tap, image + first, dy + first, static_cast<size_t>(count), in_image,
                             in_dy, to + tap * channels_ + first);
                  }
                });
  }

  void SumOfTap(int64_t tap, const double* image, const double* dy, size_t channels,
                const Offsets& in_image, const Offsets& in_dy, double* to) const {
    // The columns of the output that meet the tap.
    const int64_t x = tap % g_.window[1];
    int64_t first = 0, count = 0, start = 0;
    for (int64_t o = 0; o < g_.out[1]; ++o) {
      const int64_t i = o * g_.attrs.strides[1] + x * g_.attrs.dilations[1] - g_.pads_begin[1];
      if (i < 0 || i >= g_.in[1]) continue;
      if (count++ == 0) {
        first = o;
        start = i;
      }
    }
    bool add = false;
    for (int64_t row = 0; row < g_.batch * g_.out[0]; ++row) {
      for (const auto& y : rows_.of[static_cast<size_t>(row % g_.out[0])]) {
        if (y.tap != tap / g_.window[1] || count == 0) continue;
        const int64_t in_row = row / g_.out[0] * g_.in[0] + y.other;
        loops_.multiply_rows({.a = image + (in_row * g_.in[1] + start) * channels_,
                              .a_terms = in_image.data(),
                              .b = dy + (row * g_.out[1] + first) * channels_,
                              .b_terms = in_dy.data(),
                              .terms = static_cast<size_t>(count),
                              .rows = 1,
                              .columns = channels,
                              .add = add,
                              .out = to});
        add = true;
      }
    }
    if (!add) std::fill_n(to, channels, 0.0);
  }

  template <typename F>
  void ForImageNumbers(F f) const {
    const int64_t n = g_.batch * ProductOf(g_.in) * g_.in_channels;
    ParallelFor(threads_, n, ParallelGrain(static_cast<double>(multiplier_)),
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i) f(i);
                });
  }
  void Widen(const double* image, double* wide) const {
    ForImageNumbers([&, m = multiplier_](int64_t i) { std::fill_n(wide + i * m, m, image[i]); });
  }
  void Narrow(const double* wide, double* image) const {
    ForImageNumbers([&, m = multiplier_](int64_t i) {
      double sum = 0;
      for (int64_t k = i * m; k < (i + 1) * m; ++k) sum += wide[k];
      image[i] = sum;
    });
  }

  const ConvGeometry g_;
  const DepthwisePass pass_;
  const AxisTaps rows_, columns_;
  const int64_t channels_;  // of the output
  const int64_t multiplier_;
  const DenseLoops<double> loops_;
  const int threads_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> DepthwiseOfDoubles(PrepareContext& p, const ConvGeometry& g,
                                                           DepthwisePass pass) {
  if (p.output_dtype(0) != DType::kDouble || !g.depthwise || !g.attrs.channels_last ||
      g.attrs.spatial != 2) {
    return Unimplemented("no depthwise convolution of doubles with the channels last");
  }
  auto kernel = std::make_unique<DepthwiseDoublesKernel>(g, pass, p.services().threads);
  if (kernel->WideNumbers() > 0) {
    p.RequestScratch(static_cast<size_t>(kernel->WideNumbers()) * sizeof(double));
  }
  return std::unique_ptr<Kernel>(std::move(kernel));
}

}  // namespace tenon
