#include "kernels/image/resize.h"

#include <algorithm>
#include <vector>

#include "kernels/image/resize_taps.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

using WeightsFn = std::vector<ResizeWeights> (*)(const ResizeAxis&);

absl::StatusOr<std::unique_ptr<Kernel>> Weighted(PrepareContext& p, WeightsFn weights) {
  p.InputNotRead(1);
  const Shape in = p.input_shape(0);
  const std::vector<ResizeWeights> rows = weights(AxisOf(p, 1)), cols = weights(AxisOf(p, 2));
  return DispatchType(ImageNumbers{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      const int64_t c = in.dim(3), width = in.dim(2) * c;
      const T* image = run.input<T>(0);
      float* out = run.output<float>(0);
      for (int64_t n = 0; n < in.dim(0); ++n, image += in.dim(1) * width) {
        for (const ResizeWeights& r : rows) {
          for (const ResizeWeights& k : cols) {
            for (int64_t i = 0; i < c; ++i) {
              float sum = 0;
              for (size_t y = 0; y < r.at.size(); ++y) {
                float row = 0;
                for (size_t x = 0; x < k.at.size(); ++x) {
                  const T v = image[r.at[y] * width + k.at[x] * c + i];
                  row += static_cast<float>(ToCompute(v)) * k.weight[x];
                }
                sum += row * r.weight[y];
              }
              *out++ = sum;
            }
          }
        }
      }
      return absl::OkStatus();
    });
  });
}

// Bilinear interpolation in two steps: input rows to the output's width, then between two such
// rows. Neighboring outputs read the same two rows, which each thread keeps.
class Bilinear {
 public:
  explicit Bilinear(PrepareContext& p)
      : in_(p.input_shape(0)),
        rows_(BilinearTaps(AxisOf(p, 1))),
        columns_(BilinearTaps(AxisOf(p, 2))),
        width_(static_cast<int64_t>(columns_.size()) * in_.dim(3)),
        threads_(p.services().threads) {}

  size_t scratch_bytes() const {
    return static_cast<size_t>(2 * width_ * threads_) * sizeof(float);
  }

  // image: [batch, height, width, channels]; out: the same in float, with the output's size.
  template <typename T>
  void Run(const T* image, float* out, float* scratch) const {
    const int64_t height = static_cast<int64_t>(rows_.size());
    const int64_t row = in_.dim(2) * in_.dim(3);
    ParallelForRanges(threads_, in_.dim(0) * height, ParallelGrain(static_cast<double>(width_)),
                      [&](int range, int64_t begin, int64_t end) {
                        Widened kept[2];
                        for (int i = 0; i < 2; ++i)
                          kept[i].values = scratch + (2 * range + i) * width_;
                        for (int64_t y = begin; y < end; ++y) {
                          const BilinearTap& tap = rows_[static_cast<size_t>(y % height)];
                          const int64_t first = y / height * in_.dim(1);
                          const float* const top =
                              Find(kept, first + tap.lower, first + tap.upper, image, row);
                          const float* const bottom =
                              Find(kept, first + tap.upper, first + tap.lower, image, row);
                          const float weight = tap.weight;  // not to be read again after each store
                          float* const to = out + y * width_;
                          for (int64_t i = 0; i < width_; ++i)
                            to[i] = top[i] + (bottom[i] - top[i]) * weight;
                        }
                      });
  }

 private:
  // An input row, counted over all images, at the output's width.
  struct Widened {
    int64_t row = -1;
    float* values = nullptr;
  };

  // The values of `wanted`; if it is not kept, it takes the place of the row that is not `other`.
  template <typename T>
  const float* Find(Widened (&kept)[2], int64_t wanted, int64_t other, const T* image,
                    int64_t row) const {
    for (const Widened& k : kept) {
      if (k.row == wanted) return k.values;
    }
    Widened& k = kept[kept[0].row == other ? 1 : 0];
    k.row = wanted;
    Widen(image + wanted * row, k.values);
    return k.values;
  }

  template <typename T>
  void Widen(const T* row, float* out) const {
    const int64_t c = in_.dim(3);
    for (const BilinearTap& tap : columns_) {
      const T* const left = row + tap.lower * c;
      const T* const right = row + tap.upper * c;
      const float weight = tap.weight;
      for (int64_t i = 0; i < c; ++i) {
        const float from = static_cast<float>(ToCompute(left[i]));
        out[i] = from + (static_cast<float>(ToCompute(right[i])) - from) * weight;
      }
      out += c;
    }
  }

  const Shape in_;
  const std::vector<BilinearTap> rows_, columns_;
  const int64_t width_;  // of an output row, in elements
  const int threads_;
};

// Images that keep their size, in float. Interpolation between infinite pixels would give NaN.
absl::StatusOr<std::unique_ptr<Kernel>> Copy(PrepareContext& p) {
  const int64_t n = p.output_shape(0).num_elements();
  const int threads = p.services().threads;
  return DispatchType(ImageNumbers{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([n, threads](RunContext& run) {
      ParallelFor(threads, n, ParallelGrain(0.2), [&](int64_t begin, int64_t end) {
        const T* const from = run.input<T>(0);
        float* const to = run.output<float>(0);
        for (int64_t i = begin; i < end; ++i) to[i] = static_cast<float>(ToCompute(from[i]));
      });
      return absl::OkStatus();
    });
  });
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> ResizeBilinear(PrepareContext& p) {
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, ResizeBilinear, {1});
  p.InputNotRead(1);
  if (p.input_shape(0) == p.output_shape(0)) return Copy(p);
  const Bilinear bilinear(p);
  p.RequestScratch(bilinear.scratch_bytes());
  return DispatchType(ImageNumbers{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      bilinear.Run(run.input<T>(0), run.output<float>(0), static_cast<float*>(run.scratch()));
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> ResizeNearest(PrepareContext& p) {
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, ResizeNearest, {1});
  p.InputNotRead(1);
  const Shape in = p.input_shape(0);
  const std::vector<int64_t> rows = NearestTaps(AxisOf(p, 1));
  const std::vector<int64_t> cols = NearestTaps(AxisOf(p, 2));
  const DType dtype = p.input_dtype(0);
  const int threads = p.services().threads;
  return MakeKernel([=](RunContext& run) {
    VisitStorage(dtype, [&]<typename T>() {
      const int64_t c = in.dim(3), width = in.dim(2) * c;
      const auto height = static_cast<int64_t>(rows.size());
      const auto columns = static_cast<int64_t>(cols.size());
      const T* const images = run.input<T>(0);
      const double ns = static_cast<double>(columns) * (5 + 0.25 * static_cast<double>(c));
      ParallelFor(threads, in.dim(0) * height, ParallelGrain(ns), [&](int64_t begin, int64_t end) {
        T* out = run.output<T>(0) + begin * columns * c;
        for (int64_t y = begin; y < end; ++y) {
          const int64_t row = y / height * in.dim(1) + rows[static_cast<size_t>(y % height)];
          for (int64_t k : cols) out = std::copy_n(images + row * width + k * c, c, out);
        }
      });
    });
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> ResizeBicubic(PrepareContext& p) {
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, ResizeBicubic, {1});
  return Weighted(p, BicubicWeights);
}

absl::StatusOr<std::unique_ptr<Kernel>> ResizeArea(PrepareContext& p) {
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, ResizeArea, {1});
  return Weighted(p, AreaWeights);
}

}  // namespace tenon
