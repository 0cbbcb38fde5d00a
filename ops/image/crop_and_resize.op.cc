// CropAndResize: cuts boxes out of images and resizes them, bilinearly or by the nearest pixel.
#include <cmath>

#include "kernels/image/crop.h"
#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/types.h"
#include "ops/image/image_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status CropShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 4));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 2));
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(3, 1));
  const Shape& image = c.input(0);
  TENON_RETURN_IF_ERROR(CheckPixels(image));
  const int64_t boxes = c.input(2).has_rank() ? c.input(2).dim(0) : -1;
  if (!Shape({boxes, 4}).CompatibleWith(c.input(1))) {
    return InvalidArgument("boxes of shape ", c.input(1).ToString(), " for ", boxes, " indices");
  }
  Shape out({boxes, -1, -1, image.has_rank() ? image.dim(3) : -1});
  if (c.value(3) != nullptr) {
    TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> size, IntegersOf(*c.value(3)));
    if (size.size() != 2 || size[0] <= 0 || size[1] <= 0) {
      return InvalidArgument("crop_size must be two positive numbers");
    }
    out.set_dim(1, size[0]);
    out.set_dim(2, size[1]);
  }
  if (out.IsComplete()) TENON_RETURN_IF_ERROR(out.CheckedElements().status());
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> CropAndResize(PrepareContext& p) {
  if (p.value(3) == nullptr) return PrepareLate(p, CropAndResize, {3});
  p.InputNotRead(3);
  const std::string method = p.attrs().String("method", "bilinear");
  if (method != "bilinear" && method != "nearest") return InvalidArgument("method '", method, "'");
  const bool nearest = method == "nearest";
  const float outside = p.attrs().Float("extrapolation_value", 0);
  const Shape in = p.input_shape(0), out = p.output_shape(0);
  return DispatchType(
      Joined<TypeList<uint8_t, uint16_t, int8_t, int16_t, int32_t, int64_t>,
             TypeList<half, float, double>>{},
      p.input_dtype(0), [&]<typename T>() {
        return MakeKernel([=](RunContext& run) -> absl::Status {
          const int64_t rows = in.dim(1), cols = in.dim(2), channels = in.dim(3);
          float* to = run.output<float>(0);
          for (int64_t b = 0; b < out.dim(0); ++b) {
            const float* box = run.input<float>(1) + 4 * b;
            for (int k = 0; k < 4; ++k) {
              if (!std::isfinite(box[k])) return InvalidArgument("box ", b, " is not finite");
            }
            const int32_t image = run.input<int32_t>(2)[b];
            if (image < 0 || image >= in.dim(0)) {
              return InvalidArgument("box_ind[", b, "] = ", image, " is not in [0, ", in.dim(0),
                                     ")");
            }
            auto pixel = [&](float y, float x, int64_t c) {
              const int64_t at =
                  (image * rows + static_cast<int64_t>(y)) * cols + static_cast<int64_t>(x);
              return static_cast<float>(ToCompute(run.input<T>(0)[at * channels + c]));
            };
            for (int64_t r = 0; r < out.dim(1); ++r) {
              const float y = CropPosition(box[0], box[2], r, out.dim(1), rows);
              for (int64_t k = 0; k < out.dim(2); ++k) {
                const float x = CropPosition(box[1], box[3], k, out.dim(2), cols);
                if (!(y >= 0 && y <= static_cast<float>(rows - 1) && x >= 0 &&
                      x <= static_cast<float>(cols - 1))) {
                  to = std::fill_n(to, channels, outside);
                  continue;
                }
                const float top = std::floor(y), bottom = std::ceil(y);
                const float left = std::floor(x), right = std::ceil(x);
                for (int64_t c = 0; c < channels; ++c) {
                  if (nearest) {
                    *to++ = pixel(std::round(y), std::round(x), c);
                    continue;
                  }
                  const float a = pixel(top, left, c), e = pixel(top, right, c);
                  const float f = pixel(bottom, left, c), g = pixel(bottom, right, c);
                  const float upper = a + (e - a) * (x - left), lower = f + (g - f) * (x - left);
                  *to++ = upper + (lower - upper) * (y - top);
                }
              }
            }
          }
          return absl::OkStatus();
        });
      });
}

const OpRegistration crop_and_resize_op({
    .name = "CropAndResize",
    .inputs = "image: T, boxes: float, box_ind: int32, crop_size: int32",
    .outputs = "crops: float",
    .attrs = "T: type; method: string = bilinear; extrapolation_value: float = 0.0",
    .types = "T: uint8 uint16 int8 int16 int32 int64 half float double",
    .shape = CropShape,
    .reference = CropAndResize,
    .error_bound = ErrorBound::kImagePositions,
});

}  // namespace
}  // namespace tenon
