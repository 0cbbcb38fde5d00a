#include "kernels/image/resize_grad.h"

#include <algorithm>
#include <vector>

#include "kernels/image/resize_taps.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

// The forward op's axis: from the image (this op's output) to the gradients (its input).
ResizeAxis ForwardAxisOf(PrepareContext& p, int i) {
  const int64_t gradients = p.input_shape(0).num_elements() == 0 ? 0 : p.input_shape(0).dim(i);
  return {p.output_shape(0).dim(i), gradients, p.attrs().Bool("align_corners", false),
          p.attrs().Bool("half_pixel_centers", false)};
}

std::vector<ResizeWeights> NearestWeights(const ResizeAxis& axis) {
  std::vector<ResizeWeights> all;
  for (int64_t at : NearestTaps(axis)) all.push_back({{at}, {1.0f}});
  return all;
}

std::vector<ResizeWeights> BilinearWeights(const ResizeAxis& axis) {
  std::vector<ResizeWeights> all;
  for (const BilinearTap& t : BilinearTaps(axis)) {
    all.push_back({{t.lower, t.upper}, {1 - t.weight, t.weight}});
  }
  return all;
}

// The shapes of gradients and image, and the image's rows begin … end, counted over the batch. Each
// of several threads has rows of its own, and looks through the gradients for what is added there,
// so that sums have the order of one thread.
struct ImageRows {
  const Shape &grads, &image;
  int64_t begin, end;

  int64_t channels() const { return image.dim(3); }
  int64_t width() const { return image.dim(2) * channels(); }
  bool Has(int64_t row) const { return begin <= row && row < end; }

  // Calls visit(gradients, weights, first) for each row of gradients that is added to some of the
  // rows; `first` is the number of its image's first row.
  template <typename G, typename Visit>
  void ForEachGradientRow(const G* from, const std::vector<ResizeWeights>& rows,
                          Visit visit) const {
    const int64_t of_image = image.dim(1), row = grads.dim(2) * channels();
    for (int64_t n = begin / of_image; n * of_image < end; ++n) {
      const G* line = from + n * grads.dim(1) * row;
      for (const ResizeWeights& r : rows) {
        const auto added = [&](int64_t at) { return Has(n * of_image + at); };
        if (std::any_of(r.at.begin(), r.at.end(), added)) visit(line, r, n * of_image);
        line += row;
      }
    }
  }
};

// Products are computed in P and summed in T, as in TensorFlow.
template <typename P, typename G, typename T>
void AddPixel(const G* __restrict from, int64_t channels, float y, float x, T* __restrict to) {
  for (int64_t i = 0; i < channels; ++i) {
    if constexpr (kIsInt<T>) {
      to[i] = WrapAdd(to[i], from[i]);
    } else {
      to[i] += static_cast<T>(static_cast<P>(from[i]) * static_cast<P>(y) * static_cast<P>(x));
    }
  }
}
template <typename P, typename G, typename T>
void Spread(const G* from, const ImageRows& part, const std::vector<ResizeWeights>& rows,
            const std::vector<ResizeWeights>& cols, T* out) {
  const int64_t c = part.channels(), width = part.width();
  std::fill(out + part.begin * width, out + part.end * width, T(0));
  part.ForEachGradientRow(from, rows, [&](const G* line, const ResizeWeights& r, int64_t first) {
    for (const ResizeWeights& k : cols) {
      for (size_t y = 0; y < r.at.size(); ++y) {
        if (!part.Has(first + r.at[y])) continue;
        for (size_t x = 0; x < k.at.size(); ++x) {
          AddPixel<P>(line, c, r.weight[y], k.weight[x],
                      out + (first + r.at[y]) * width + k.at[x] * c);
        }
      }
      line += c;
    }
  });
}

// The same, in two steps: along rows, then between them. A weight is rounded only with a sum.
template <typename T>
void SpreadInSteps(const float* from, const ImageRows& part, const std::vector<ResizeWeights>& rows,
                   const std::vector<ResizeWeights>& cols, T* out) {
  const int64_t c = part.channels(), width = part.width();
  std::vector<T> sums(static_cast<size_t>(width));
  const auto add = [](const auto* __restrict a, int64_t n, T weight, T* __restrict to) {
    for (int64_t i = 0; i < n; ++i) to[i] += static_cast<T>(a[i]) * weight;
  };
  std::fill(out + part.begin * width, out + part.end * width, T(0));
  part.ForEachGradientRow(
      from, rows, [&](const float* line, const ResizeWeights& r, int64_t first) {
        std::fill(sums.begin(), sums.end(), T(0));
        for (const ResizeWeights& k : cols) {
          for (size_t x = 0; x < k.at.size(); ++x) {
            add(line, c, static_cast<T>(k.weight[x]), sums.data() + k.at[x] * c);
          }
          line += c;
        }
        for (size_t y = 0; y < r.at.size(); ++y) {
          if (!part.Has(first + r.at[y])) continue;
          add(sums.data(), width, static_cast<T>(r.weight[y]), out + (first + r.at[y]) * width);
        }
      });
}

// Calls spread(part) for parts of the image's rows, on several threads.
template <typename F>
absl::Status ForImageRows(int threads, const Shape& grads, const Shape& image, F spread) {
  constexpr double kNsPerGradient = 1;
  const int64_t rows = image.dim(0) * image.dim(1);
  const double of_row = static_cast<double>(grads.num_elements() + image.num_elements()) /
                        static_cast<double>(std::max<int64_t>(rows, 1));
  ParallelFor(threads, rows, ParallelGrain(kNsPerGradient * of_row),
              [&](int64_t begin, int64_t end) {
                spread(ImageRows{grads, image, begin, end});
              });
  return absl::OkStatus();
}

}  // namespace

// Float gradients, with an image of another dtype.
absl::StatusOr<std::unique_ptr<Kernel>> ResizeBilinearGrad(PrepareContext& p) {
  p.InputNotRead(1);
  const Shape grads = p.input_shape(0), image = p.output_shape(0);
  const int threads = p.services().threads;
  const std::vector<ResizeWeights> rows = BilinearWeights(ForwardAxisOf(p, 1)),
                                   cols = BilinearWeights(ForwardAxisOf(p, 2));
  if (p.output_dtype(0) == DType::kHalf || p.output_dtype(0) == DType::kBfloat16) {
    p.RequestScratch(static_cast<size_t>(image.num_elements()) * sizeof(float));
  }
  return DispatchType(Floats{}, p.output_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      const float* from = run.input<float>(0);
      T* const out = run.output<T>(0);
      return ForImageRows(threads, grads, image, [&](const ImageRows& part) {
        if constexpr (kIsSmallFloat<T>) {
          float* const sums = static_cast<float*>(run.scratch());
          Spread<float>(from, part, rows, cols, sums);
          std::transform(sums + part.begin * part.width(), sums + part.end * part.width(),
                         out + part.begin * part.width(),
                         [](float v) { return static_cast<T>(v); });
        } else {
          Spread<float>(from, part, rows, cols, out);
        }
      });
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> ResizeBicubicGrad(PrepareContext& p) {
  p.InputNotRead(1);
  const Shape grads = p.input_shape(0), image = p.output_shape(0);
  const int threads = p.services().threads;
  const std::vector<ResizeWeights> rows = BicubicWeights(ForwardAxisOf(p, 1));
  const std::vector<ResizeWeights> cols = BicubicWeights(ForwardAxisOf(p, 2));
  return DispatchType(TypeList<float, double>{}, p.output_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      return ForImageRows(threads, grads, image, [&](const ImageRows& part) {
        SpreadInSteps(run.input<float>(0), part, rows, cols, run.output<T>(0));
      });
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> ResizeNearestGrad(PrepareContext& p) {
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, ResizeNearestGrad, {1});
  p.InputNotRead(1);
  const Shape grads = p.input_shape(0), image = p.output_shape(0);
  const int threads = p.services().threads;
  const std::vector<ResizeWeights> rows = NearestWeights(ForwardAxisOf(p, 1)),
                                   cols = NearestWeights(ForwardAxisOf(p, 2));
  return DispatchType(
      Joined<Floats, TypeList<uint8_t, int8_t, int32_t>>{}, p.output_dtype(0), [&]<typename T>() {
        return MakeKernel([=](RunContext& run) {
          return ForImageRows(threads, grads, image, [&](const ImageRows& part) {
            Spread<ComputeType<T>>(run.input<T>(0), part, rows, cols, run.output<T>(0));
          });
        });
      });
}

}  // namespace tenon
