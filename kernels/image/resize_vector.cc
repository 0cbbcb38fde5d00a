#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "kernels/image/resize.h"
#include "kernels/image/resize_simd.h"
#include "kernels/image/resize_taps.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

// The taps of all output positions along an axis, one after the other.
struct FlatTaps {
  FlatTaps(const std::vector<ResizeWeights>& all, int64_t stride) : first({0}) {
    for (const ResizeWeights& w : all) {
      for (const int64_t at : w.at) offset.push_back(at * stride);
      weight.insert(weight.end(), w.weight.begin(), w.weight.end());
      first.push_back(static_cast<int64_t>(offset.size()));
    }
  }
  int64_t outputs() const { return static_cast<int64_t>(first.size()) - 1; }

  std::vector<int64_t> first, offset;
  std::vector<float> weight;
};

// Weighted sums in two steps: input rows to the output's width, then over such rows. Neighboring
// outputs read mostly the same rows, of which each thread keeps the last ones. The taps of an
// output are neighbors (the border may repeat), which `Kept` relies on.
class WeightedRows {
 public:
  WeightedRows(PrepareContext& p, std::vector<ResizeWeights> (*weights)(const ResizeAxis&))
      : in_(p.input_shape(0)),
        rows_(weights(AxisOf(p, 1)), 1),
        columns_(weights(AxisOf(p, 2)), in_.dim(3)),
        width_(columns_.outputs() * in_.dim(3)),
        in_width_(in_.dim(2) * in_.dim(3)),
        threads_(p.services().threads),
        loops_(FindResizeLoops()) {}

  size_t scratch_bytes() const {
    return static_cast<size_t>(threads_) * FloatsOfThread() * sizeof(float);
  }

  // image: [batch, height, width, channels]; out: the same in float, with the output's size.
  template <typename T>
  void Run(const T* image, float* out, float* scratch) const {
    const int64_t height = rows_.outputs();
    const double ns = 0.6 * static_cast<double>(width_);
    ParallelForRanges(threads_, in_.dim(0) * height, ParallelGrain(ns),
                      [&](int range, int64_t begin, int64_t end) {
                        Kept kept(*this, scratch + static_cast<size_t>(range) * FloatsOfThread());
                        for (int64_t y = begin; y < end; ++y) {
                          const int64_t first_row = y / height * in_.dim(1);
                          SumRows(kept, image, first_row, static_cast<size_t>(y % height),
                                  out + y * width_);
                        }
                      });
  }

 private:
  // Input rows, counted over all images, at the output's width: at most one for each remainder of
  // the division by kResizeRows.
  class Kept {
   public:
    Kept(const WeightedRows& resize, float* scratch) : resize_(resize), plain_(scratch) {
      rows_.fill(-1);
      std::fill_n(plain_ + resize.in_width_, kResizePadding, 0.0f);
      for (size_t k = 0; k < kResizeRows; ++k) {
        values_[k] = scratch + Padded(resize.in_width_) + k * Padded(resize.width_);
      }
    }

    template <typename T>
    const float* Find(const T* image, int64_t row) {
      const size_t k = static_cast<size_t>(row) % kResizeRows;
      if (rows_[k] == row) return values_[k];
      rows_[k] = row;
      const T* const from = image + row * resize_.in_width_;
      for (int64_t i = 0; i < resize_.in_width_; ++i) {
        plain_[i] = static_cast<float>(ToCompute(from[i]));
      }
      const FlatTaps& columns = resize_.columns_;
      resize_.loops_.along(plain_,
                           {static_cast<size_t>(columns.outputs()), columns.first.data(),
                            columns.offset.data(), columns.weight.data()},
                           static_cast<size_t>(resize_.in_.dim(3)), values_[k]);
      return values_[k];
    }

   private:
    const WeightedRows& resize_;
    float* const plain_;  // an input row in float
    std::array<int64_t, kResizeRows> rows_;
    std::array<float*, kResizeRows> values_;
  };

  static size_t Padded(int64_t width) { return static_cast<size_t>(width) + kResizePadding; }
  size_t FloatsOfThread() const { return Padded(in_width_) + kResizeRows * Padded(width_); }

  template <typename T>
  void SumRows(Kept& kept, const T* image, int64_t first_row, size_t y, float* out) const {
    const int64_t begin = rows_.first[y], end = rows_.first[y + 1];
    if (begin == end) std::fill_n(out, width_, 0.0f);  // areas of a scale of 0
    for (int64_t k = begin; k < end; k += kResizeRows) {
      const float* rows[kResizeRows];
      const size_t count = std::min(static_cast<size_t>(end - k), kResizeRows);
      for (size_t r = 0; r < count; ++r) {
        rows[r] = kept.Find(image, first_row + rows_.offset[static_cast<size_t>(k) + r]);
      }
      loops_.between(rows, &rows_.weight[static_cast<size_t>(k)], count, /*add=*/k > begin,
                     static_cast<size_t>(width_), out);
    }
  }

  const Shape in_;
  const FlatTaps rows_, columns_;
  const int64_t width_, in_width_;  // of rows, in elements
  const int threads_;
  const ResizeLoops loops_;
};

absl::StatusOr<std::unique_ptr<Kernel>> VectorWeighted(
    PrepareContext& p, std::vector<ResizeWeights> (*weights)(const ResizeAxis&)) {
  p.InputNotRead(1);
  const auto resize = std::make_shared<const WeightedRows>(p, weights);
  p.RequestScratch(resize->scratch_bytes());
  return DispatchType(ImageNumbers{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel(
        [resize](RunContext& run) {
          resize->Run(run.input<T>(0), run.output<float>(0), static_cast<float*>(run.scratch()));
          return absl::OkStatus();
        },
        "vector");
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> VectorResizeBicubic(PrepareContext& p) {
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, VectorResizeBicubic, {1});
  return VectorWeighted(p, BicubicWeights);
}

absl::StatusOr<std::unique_ptr<Kernel>> VectorResizeArea(PrepareContext& p) {
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, VectorResizeArea, {1});
  return VectorWeighted(p, AreaWeights);
}

}  // namespace tenon
