// ResizeBilinearGrad, ResizeNearestNeighborGrad, ResizeBicubicGrad: each gradient goes back to the
// pixels it was made of, with their weights.
#include <algorithm>

#include "kernels/image/resize_taps.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/types.h"
#include "ops/image/image_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

// Inputs: gradients, the original image.
absl::Status LikeImageShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(CheckResizeFlags(c));
  for (int i : {0, 1}) {
    TENON_RETURN_IF_ERROR(c.ExpectRank(i, 4));
    TENON_RETURN_IF_ERROR(CheckPixels(c.input(i)));
  }
  const Shape &grads = c.input(0), &image = c.input(1);
  if (grads.has_rank() && image.has_rank() &&
      !Shape({grads.dim(0), -1, -1, grads.dim(3)}).CompatibleWith(image)) {
    return InvalidArgument("gradients of shape ", grads.ToString(), " for images of shape ",
                           image.ToString());
  }
  c.set_output(0, image.has_rank() ? image : Shape::UnknownOfRank(4));
  return absl::OkStatus();
}

// Inputs: gradients, the original image's height and width.
absl::Status OfSizeShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(CheckResizeFlags(c));
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 4));
  TENON_RETURN_IF_ERROR(CheckPixels(c.input(0)));
  return SetResized(c, c.input(0));
}

// The forward op's axis: from the image (this op's output) to the gradients (its input).
ResizeAxis AxisOf(PrepareContext& p, int i) {
  return {p.output_shape(0).dim(i), p.input_shape(0).dim(i), p.attrs().Bool("align_corners", false),
          p.attrs().Bool("half_pixel_centers", false)};
}

std::vector<ResizeWeights> Nearest(const ResizeAxis& axis) {
  std::vector<ResizeWeights> all;
  for (int64_t at : NearestTaps(axis)) all.push_back({{at}, {1.0f}});
  return all;
}

std::vector<ResizeWeights> Bilinear(const ResizeAxis& axis) {
  std::vector<ResizeWeights> all;
  for (const BilinearTap& t : BilinearTaps(axis)) {
    all.push_back({{t.lower, t.upper}, {1 - t.weight, t.weight}});
  }
  return all;
}

// Products are made in P and added up in T, as TensorFlow does.
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

// Float gradients, an image of another dtype.
absl::StatusOr<std::unique_ptr<Kernel>> BilinearGrad(PrepareContext& p) {
  p.InputNotRead(1);
  const Shape grads = p.input_shape(0), image = p.output_shape(0);
  const std::vector<ResizeWeights> rows = Bilinear(AxisOf(p, 1)), cols = Bilinear(AxisOf(p, 2));
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

absl::StatusOr<std::unique_ptr<Kernel>> BicubicGrad(PrepareContext& p) {
  p.InputNotRead(1);
  const Shape grads = p.input_shape(0), image = p.output_shape(0);
  const std::vector<ResizeWeights> rows = BicubicWeights(AxisOf(p, 1));
  const std::vector<ResizeWeights> cols = BicubicWeights(AxisOf(p, 2));
  return DispatchType(TypeList<float, double>{}, p.output_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      Spread<T>(run.input<float>(0), grads, image, rows, cols, run.output<T>(0));
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> NearestGrad(PrepareContext& p) {
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, NearestGrad, {1});
  p.InputNotRead(1);
  const Shape grads = p.input_shape(0), image = p.output_shape(0);
  const std::vector<ResizeWeights> rows = Nearest(AxisOf(p, 1)), cols = Nearest(AxisOf(p, 2));
  return DispatchType(
      Joined<Floats, TypeList<uint8_t, int8_t, int32_t>>{}, p.output_dtype(0), [&]<typename T>() {
        return MakeKernel([=](RunContext& run) {
          Spread<ComputeType<T>>(run.input<T>(0), grads, image, rows, cols, run.output<T>(0));
          return absl::OkStatus();
        });
      });
}

const OpRegistration resize_bilinear_grad({
    .name = "ResizeBilinearGrad",
    .inputs = "grads: float, original_image: T",
    .outputs = "output: T",
    .attrs = "T: type; align_corners: bool = false; half_pixel_centers: bool = false",
    .types = "T: float bfloat16 half double",
    .shape = LikeImageShape,
    .reference = BilinearGrad,
});

const OpRegistration resize_nearest_neighbor_grad({
    .name = "ResizeNearestNeighborGrad",
    .inputs = "grads: T, size: int32",
    .outputs = "output: T",
    .attrs = "T: type; align_corners: bool = false; half_pixel_centers: bool = false",
    .types = "T: uint8 int8 int32 half float double bfloat16",
    .shape = OfSizeShape,
    .reference = NearestGrad,
});

const OpRegistration resize_bicubic_grad({
    .name = "ResizeBicubicGrad",
    .inputs = "grads: float, original_image: T",
    .outputs = "output: T",
    .attrs = "T: type; align_corners: bool = false; half_pixel_centers: bool = false",
    .types = "T: float double",
    .shape = LikeImageShape,
    .reference = BicubicGrad,
});

}  // namespace
}  // namespace tenon
