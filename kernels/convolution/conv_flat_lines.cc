#include "kernels/convolution/conv_flat_lines.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "env/status.h"
#include "kernels/contraction/tile_chain.h"
#include "kernels/convolution/flat_lines_simd.h"
#include "kernels/convolution/window_spans.h"
#include "kernels/interface/parallel.h"

namespace tenon {
namespace {

constexpr double kFlatFlopsPerNs = 40;  // of a thread
// Ranges of 1 us are worth a thread, as in conv_depthwise.cc.
constexpr double kFlatGrainFactor = 3;

// oneDNN's kernels put the channels of one pixel in a vector, most of which is empty. Their time
// over that of these loops, two threads of Zen 4, 224x224 and 32x32 pixels: one channel, 3x3: 5.6
// and 2.7, 5x5: 12.8 and 3.1, 11x11: 8.3 and 3.2; three: 2.0 and 1.1, 2.2 and 1.0, 4.6 and 3.5;
// six: 1.1 and 0.8, 1.2 and 1.1, 2.4 and 2.5; twelve: 0.6 and 0.5, 0.7 and 0.7, 1.2 and 1.3.
bool IsSlowForFewChannels(const ConvGeometry& g) {
  if (g.window[1] > 5) return true;
  return g.out_channels <= (g.window[1] == 5 ? 8 : 4);
}

class FlatLinesKernel final : public Kernel {
 public:
  FlatLinesKernel(const PrepareContext& p, const ConvGeometry& g, const FusedOps& fused,
                  FlatLoops loops)
      : loops_(loops),
        height_(g, 0),
        width_(g, 1),
        channels_(g.in_channels),
        multiplier_(g.out_channels / g.in_channels),
        lines_(g.batch * g.out[0]),
        threads_(p.services().threads),
        grain_(ParallelGrain(kFlatGrainFactor * g.flops() / kFlatFlopsPerNs /
                             static_cast<double>(lines_))),
        flops_(g.flops()),
        chain_(p, fused, static_cast<size_t>(g.out_channels)) {
    row_pixels_ = width_.out + (width_.window - 1) * width_.dilation;
    row_floats_ = static_cast<size_t>(row_pixels_ * pixel()) + TapFloats();
    kept_rows_ = (height_.window - 1) * height_.dilation + 1;
  }

  // The constant filter.
  void SetWeights(const float* filter) {
    weights_.resize(WeightFloats());
    Repeat(filter, weights_.data());
  }
  // Of a range of lines, and of weights that are not constant.
  size_t ScratchBytes() const {
    const size_t rows = static_cast<size_t>(Ranges() * kept_rows_) * row_floats_;
    return (rows + (weights_.empty() ? WeightFloats() : 0)) * sizeof(float);
  }

  absl::Status Run(RunContext& r) const override {
    auto* const scratch = static_cast<float*>(r.scratch());
    const float* weights = weights_.data();
    if (weights_.empty()) {
      float* const repeated = scratch + static_cast<size_t>(Ranges() * kept_rows_) * row_floats_;
      Repeat(r.input<float>(1), repeated);
      weights = repeated;
    }
    ParallelForRanges(threads_, lines_, grain_, [&](int range, int64_t begin, int64_t end) {
      float* const rows = scratch + static_cast<size_t>(range * kept_rows_) * row_floats_;
      RunLines(r, weights, rows, begin, end);
    });
    chain_.Finish(r);
    return absl::OkStatus();
  }
  std::string Implementation() const override { return "flat lines"; }
  double Flops() const override { return flops_; }
  size_t HeldBytes() const override { return weights_.size() * sizeof(float); }

 private:
  int64_t pixel() const { return channels_ * multiplier_; }  // floats of a result
  int Ranges() const { return ParallelRanges(threads_, lines_, grain_); }
  size_t TapFloats() const { return loops_.phases * loops_.lanes; }
  size_t WeightFloats() const {
    return static_cast<size_t>(height_.window * width_.window) * TapFloats();
  }

  // From [taps, pixel] to [taps, phases, lanes].
  void Repeat(const float* filter, float* weights) const {
    const auto floats = static_cast<size_t>(pixel());
    for (int64_t tap = 0; tap < height_.window * width_.window; ++tap, filter += floats) {
      for (size_t i = 0; i < TapFloats(); ++i) *weights++ = filter[i % floats];
    }
  }

  // A row of the image with its padding, each channel once for each of its results.
  void CopyRow(const float* image, float* row) const {
    const int64_t before = std::min(width_.pad, row_pixels_);
    const int64_t pixels = std::min(width_.in, row_pixels_ - before);
    float* const end = row + row_floats_;
    row = std::fill_n(row, before * pixel(), 0.0f);
    if (multiplier_ == 1) {
      row = std::copy_n(image, pixels * channels_, row);
    } else {
      for (int64_t i = 0; i < pixels * channels_; ++i)
        row = std::fill_n(row, multiplier_, image[i]);
    }
    std::fill(row, end, 0.0f);
  }

  void RunLines(RunContext& r, const float* weights, float* kept, int64_t begin,
                int64_t end) const {
    FlatLine l;
    l.taps = static_cast<size_t>(width_.window);
    l.tap_step = static_cast<size_t>(width_.dilation * pixel());
    l.floats = static_cast<size_t>(width_.out * pixel());
    absl::InlinedVector<const float*, 16> rows, row_weights;
    absl::InlinedVector<int64_t, 16> kept_row(static_cast<size_t>(kept_rows_),
                                              -1);  // of all images
    for (int64_t line = begin; line < end; ++line) {
      const int64_t image = line / height_.out, y = line % height_.out;
      const TapRange taps = height_.Taps(y);
      rows.clear();
      row_weights.clear();
      for (int64_t tap = taps.first; tap < taps.last; ++tap) {
        const int64_t source = height_.Source(y, tap), of_all = image * height_.in + source;
        const auto slot = static_cast<size_t>(source % kept_rows_);
        float* const row = kept + slot * row_floats_;
        if (std::exchange(kept_row[slot], of_all) != of_all) {
          CopyRow(r.input<float>(0) + of_all * width_.in * channels_, row);
        }
        rows.push_back(row);
        row_weights.push_back(weights + static_cast<size_t>(tap * width_.window) * TapFloats());
      }
      l.rows = rows.data();
      l.weights = row_weights.data();
      l.num_rows = rows.size();
      l.out = r.output<float>(0) + static_cast<size_t>(line) * l.floats;
      loops_.compute(l);
      chain_.Apply(r, {static_cast<size_t>(line * width_.out), static_cast<size_t>(width_.out), 0,
                       static_cast<size_t>(pixel())});
    }
  }

  const FlatLoops loops_;
  const WindowSpans height_, width_;
  const int64_t channels_, multiplier_, lines_;
  const int threads_;
  const int64_t grain_;
  const double flops_;
  const TileChain chain_;
  int64_t row_pixels_, kept_rows_;
  size_t row_floats_;
  std::vector<float> weights_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> ConvFlatLinesKernel(PrepareContext& p,
                                                            const ConvGeometry& g,
                                                            const FusedOps& fused) {
  if (p.output_dtype(0) != DType::kFloat || !g.attrs.channels_last || g.attrs.spatial != 2 ||
      g.groups != g.in_channels || g.attrs.strides[1] != 1) {
    return Unimplemented("not a depthwise convolution of floats, or with a stride");
  }
  const FlatLoops loops = FindFlatLoops(static_cast<size_t>(g.out_channels));
  if (!IsSlowForFewChannels(g)) return Unimplemented("oneDNN is faster");
  if (loops.compute == nullptr || g.out_channels >= static_cast<int64_t>(loops.lanes)) {
    return Unimplemented("no loops for this number of channels");
  }
  auto kernel = std::make_unique<FlatLinesKernel>(p, g, fused, loops);
  if (Constant* filter = p.constant(1); filter != nullptr) {
    TENON_ASSIGN_OR_RETURN(const Tensor plain, filter->Plain());
    kernel->SetWeights(plain.data<float>());
    p.InputNotRead(1);
  }
  p.RequestScratch(kernel->ScratchBytes());
  return std::unique_ptr<Kernel>(std::move(kernel));
}

}  // namespace tenon
