#include "kernels/image/resize.h"

#include <algorithm>
#include <vector>

#include "kernels/image/resize_taps.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/types.h"

namespace tenon {
namespace {

ResizeAxis AxisOf(PrepareContext& p, int i) {
  return {p.input_shape(0).dim(i), p.output_shape(0).dim(i), p.attrs().Bool("align_corners", false),
          p.attrs().Bool("half_pixel_centers", false)};
}

using WeightsFn = std::vector<ResizeWeights> (*)(const ResizeAxis&);

absl::StatusOr<std::unique_ptr<Kernel>> Weighted(PrepareContext& p, WeightsFn weights) {
  p.InputNotRead(1);
  const Shape in = p.input_shape(0);
  const std::vector<ResizeWeights> rows = weights(AxisOf(p, 1)), cols = weights(AxisOf(p, 2));
  return DispatchType(
      Joined<Floats, TypeList<int8_t, uint8_t, int16_t, uint16_t, int32_t, int64_t>>{},
      p.input_dtype(0), [&]<typename T>() {
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

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> ResizeBilinear(PrepareContext& p) {
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, ResizeBilinear, {1});
  p.InputNotRead(1);
  const Shape in = p.input_shape(0);
  const std::vector<BilinearTap> rows = BilinearTaps(AxisOf(p, 1));
  const std::vector<BilinearTap> cols = BilinearTaps(AxisOf(p, 2));
  return DispatchType(
      Joined<Floats, TypeList<int8_t, uint8_t, int16_t, uint16_t, int32_t, int64_t>>{},
      p.input_dtype(0), [&]<typename T>() {
        return MakeKernel([=](RunContext& run) {
          const int64_t c = in.dim(3), width = in.dim(2) * c;
          const T* image = run.input<T>(0);
          float* out = run.output<float>(0);
          auto f = [](T v) { return static_cast<float>(ToCompute(v)); };
          for (int64_t n = 0; n < in.dim(0); ++n, image += in.dim(1) * width) {
            for (const BilinearTap& r : rows) {
              const T* top = image + r.lower * width;
              const T* bottom = image + r.upper * width;
              for (const BilinearTap& k : cols) {
                const int64_t left = k.lower * c, right = k.upper * c;
                for (int64_t i = 0; i < c; ++i) {
                  const float a =
                      f(top[left + i]) + (f(top[right + i]) - f(top[left + i])) * k.weight;
                  const float b =
                      f(bottom[left + i]) + (f(bottom[right + i]) - f(bottom[left + i])) * k.weight;
                  *out++ = a + (b - a) * r.weight;
                }
              }
            }
          }
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
  return MakeKernel([=](RunContext& run) {
    VisitStorage(dtype, [&]<typename T>() {
      const int64_t c = in.dim(3), width = in.dim(2) * c;
      const T* image = run.input<T>(0);
      T* out = run.output<T>(0);
      for (int64_t n = 0; n < in.dim(0); ++n, image += in.dim(1) * width) {
        for (int64_t r : rows) {
          for (int64_t k : cols) out = std::copy_n(image + r * width + k * c, c, out);
        }
      }
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
