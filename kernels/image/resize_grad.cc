#include "kernels/image/resize_grad.h"

#include <algorithm>
#include <vector>

#include "kernels/image/resize_taps.h"
#include "kernels/interface/late_kernel.h"
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

// Products are computed in P and summed in T, as in TensorFlow.
template <typename P, typename G, typename T>
void Spread(const G* from, const Shape& grads, const Shape& image,
            const std::vector<ResizeWeights>& rows, const std::vector<ResizeWeights>& cols,
            T* out) {
  const int64_t c = image.dim(3), width = image.dim(2) * c;
  std::fill_n(out, image.num_elements(), T(0));
  for (int64_t n = 0; n < grads.dim(0); ++n, out += image.dim(1) * width) {
    for (const ResizeWeights& r : rows) {
      for (const ResizeWeights& k : cols) {
        for (size_t y = 0; y < r.at.size(); ++y) {
          for (size_t x = 0; x < k.at.size(); ++x) {
            T* to = out + r.at[y] * width + k.at[x] * c;
            for (int64_t i = 0; i < c; ++i) {
              if constexpr (kIsInt<T>) {
                to[i] = WrapAdd(to[i], from[i]);
              } else {
                const P share = static_cast<P>(from[i]) * static_cast<P>(r.weight[y]) *
                                static_cast<P>(k.weight[x]);
                to[i] += static_cast<T>(share);
              }
            }
          }
        }
        from += c;
      }
    }
  }
}

// The same, in two steps: along rows, then between them. A weight is rounded only with a sum.
template <typename T>
void SpreadInSteps(const float* from, const Shape& grads, const Shape& image,
                   const std::vector<ResizeWeights>& rows, const std::vector<ResizeWeights>& cols,
                   T* out) {
  const int64_t c = image.dim(3), width = image.dim(2) * c;
  std::vector<T> line(static_cast<size_t>(width));
  T* const sums = line.data();
  std::fill_n(out, image.num_elements(), T(0));
  for (int64_t n = 0; n < grads.dim(0); ++n, out += image.dim(1) * width) {
    for (const ResizeWeights& r : rows) {
      std::fill_n(sums, width, T(0));
      for (const ResizeWeights& k : cols) {
        for (size_t x = 0; x < k.at.size(); ++x) {
          const T weight = static_cast<T>(k.weight[x]);
          T* const to = sums + k.at[x] * c;
          for (int64_t i = 0; i < c; ++i) to[i] += static_cast<T>(from[i]) * weight;
        }
        from += c;
      }
      for (size_t y = 0; y < r.at.size(); ++y) {
        const T weight = static_cast<T>(r.weight[y]);
        T* const to = out + r.at[y] * width;
        for (int64_t i = 0; i < width; ++i) to[i] += sums[i] * weight;
      }
    }
  }
}

}  // namespace

// Float gradients, with an image of another dtype.
absl::StatusOr<std::unique_ptr<Kernel>> ResizeBilinearGrad(PrepareContext& p) {
  p.InputNotRead(1);
  const Shape grads = p.input_shape(0), image = p.output_shape(0);
  const std::vector<ResizeWeights> rows = BilinearWeights(ForwardAxisOf(p, 1)),
                                   cols = BilinearWeights(ForwardAxisOf(p, 2));
  if (p.output_dtype(0) == DType::kHalf || p.output_dtype(0) == DType::kBfloat16) {
    p.RequestScratch(static_cast<size_t>(image.num_elements()) * sizeof(float));
  }
  return DispatchType(Floats{}, p.output_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      const float* from = run.input<float>(0);
      if constexpr (kIsSmallFloat<T>) {
        float* sums = static_cast<float*>(run.scratch());
        Spread<float>(from, grads, image, rows, cols, sums);
        std::transform(sums, sums + image.num_elements(), run.output<T>(0),
                       [](float v) { return static_cast<T>(v); });
      } else {
        Spread<float>(from, grads, image, rows, cols, run.output<T>(0));
      }
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> ResizeBicubicGrad(PrepareContext& p) {
  p.InputNotRead(1);
  const Shape grads = p.input_shape(0), image = p.output_shape(0);
  const std::vector<ResizeWeights> rows = BicubicWeights(ForwardAxisOf(p, 1));
  const std::vector<ResizeWeights> cols = BicubicWeights(ForwardAxisOf(p, 2));
  return DispatchType(TypeList<float, double>{}, p.output_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      SpreadInSteps(run.input<float>(0), grads, image, rows, cols, run.output<T>(0));
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> ResizeNearestGrad(PrepareContext& p) {
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, ResizeNearestGrad, {1});
  p.InputNotRead(1);
  const Shape grads = p.input_shape(0), image = p.output_shape(0);
  const std::vector<ResizeWeights> rows = NearestWeights(ForwardAxisOf(p, 1)),
                                   cols = NearestWeights(ForwardAxisOf(p, 2));
  return DispatchType(
      Joined<Floats, TypeList<uint8_t, int8_t, int32_t>>{}, p.output_dtype(0), [&]<typename T>() {
        return MakeKernel([=](RunContext& run) {
          Spread<ComputeType<T>>(run.input<T>(0), grads, image, rows, cols, run.output<T>(0));
          return absl::OkStatus();
        });
      });
}

}  // namespace tenon
