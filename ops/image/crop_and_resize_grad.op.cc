// CropAndResizeGradImage, CropAndResizeGradBoxes: what CropAndResize's crops say about the image
// and about the boxes.
#include <algorithm>
#include <cmath>
#include <string>

#include "kernels/image/crop.h"
#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/types.h"
#include "ops/image/image_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status CheckCrops(ShapeContext& c, int boxes, int indices) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 4));
  TENON_RETURN_IF_ERROR(c.ExpectRank(boxes, 2));
  TENON_RETURN_IF_ERROR(c.ExpectRank(indices, 1));
  const Shape& grads = c.input(0);
  if (grads.has_rank() && (grads.dim(1) == 0 || grads.dim(2) == 0)) {
    return InvalidArgument("crops without pixels");
  }
  const int64_t n = grads.has_rank() ? grads.dim(0) : -1;
  if (!Shape({n, 4}).CompatibleWith(c.input(boxes))) {
    return InvalidArgument("boxes of shape ", c.input(boxes).ToString(), " for ", n, " crops");
  }
  if (!Shape({n}).CompatibleWith(c.input(indices))) {
    return InvalidArgument("box_ind of shape ", c.input(indices).ToString(), " for ", n, " crops");
  }
  return absl::OkStatus();
}

absl::Status ImageGradShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(CheckCrops(c, 1, 2));
  if (!c.input(3).CompatibleWith(Shape({4}))) {
    return InvalidArgument("image_size must be a vector of 4, but has shape ",
                           c.input(3).ToString());
  }
  c.set_output(0, Shape::UnknownOfRank(4));
  if (c.value(3) == nullptr) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> size, IntegersOf(*c.value(3)));
  if (size[0] < 0 || size[1] <= 0 || size[2] <= 0 || size[3] < 0) {
    return InvalidArgument("image_size has dimensions that are not positive");
  }
  if (c.input(0).has_rank() && c.input(0).dim(3) >= 0 && c.input(0).dim(3) != size[3]) {
    return InvalidArgument("crops of ", c.input(0).dim(3), " channels for images of ", size[3]);
  }
  Shape out(size);
  TENON_RETURN_IF_ERROR(out.CheckedElements().status());
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status BoxesGradShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(CheckCrops(c, 2, 3));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 4));
  const Shape &grads = c.input(0), &image = c.input(1);
  TENON_RETURN_IF_ERROR(CheckPixels(image));
  if (grads.has_rank() && image.has_rank() &&
      !Shape({-1, -1, -1, grads.dim(3)}).CompatibleWith(image)) {
    return InvalidArgument("crops of shape ", grads.ToString(), " for images of shape ",
                           image.ToString());
  }
  c.set_output(0, Shape({grads.has_rank() ? grads.dim(0) : -1, 4}));
  return absl::OkStatus();
}

// Where along an axis a crop's pixel was taken from.
struct Place {
  bool inside;
  float at;
  int64_t lower, upper;
  float fraction;  // of upper
};

Place PlaceOf(float from, float to, int64_t i, int64_t crop, int64_t size) {
  const float at = CropPosition(from, to, i, crop, size);
  if (!(at >= 0 && at <= static_cast<float>(size - 1))) return {false, 0, 0, 0, 0};
  const int64_t lower = static_cast<int64_t>(std::floor(at));
  return {true, at, lower, std::min(static_cast<int64_t>(std::ceil(at)), size - 1),
          at - static_cast<float>(lower)};
}

// visit(crop, image, row, column, gradients) for each pixel of a crop that lies in its image.
template <typename Visit>
absl::Status ForEachPixel(const float* from, const Shape& grads, const Shape& image,
                          const float* boxes, const int32_t* indices, Visit visit) {
  for (int64_t b = 0; b < grads.dim(0); ++b) {
    if (indices[b] < 0 || indices[b] >= image.dim(0)) {
      return InvalidArgument("box_ind[", b, "] = ", indices[b], " is not in [0, ", image.dim(0),
                             ")");
    }
    const float* box = boxes + 4 * b;
    for (int64_t r = 0; r < grads.dim(1); ++r) {
      const Place y = PlaceOf(box[0], box[2], r, grads.dim(1), image.dim(1));
      for (int64_t k = 0; k < grads.dim(2); ++k, from += grads.dim(3)) {
        const Place x = PlaceOf(box[1], box[3], k, grads.dim(2), image.dim(2));
        if (y.inside && x.inside) visit(b, r, k, indices[b], y, x, from);
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> ImageGrad(PrepareContext& p) {
  const std::string method = p.attrs().String("method", "bilinear");
  if (method != "bilinear" && method != "nearest") return InvalidArgument("method '", method, "'");
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, ImageGrad, {3});
  p.InputNotRead(3);
  const bool nearest = method == "nearest";
  const Shape grads = p.input_shape(0), image = p.output_shape(0);
  return DispatchType(TypeList<float, half, double>{}, p.output_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      T* out = run.output<T>(0);
      std::fill_n(out, image.num_elements(), T(0));
      const int64_t channels = image.dim(3);
      auto add = [&](int64_t n, int64_t y, int64_t x, float wx, float wy, const float* from) {
        T* to = out + ((n * image.dim(1) + y) * image.dim(2) + x) * channels;
        for (int64_t i = 0; i < channels; ++i) to[i] += static_cast<T>(wx * (wy * from[i]));
      };
      return ForEachPixel(run.input<float>(0), grads, image, run.input<float>(1),
                          run.input<int32_t>(2),
                          [&](int64_t, int64_t, int64_t, int64_t n, const Place& y, const Place& x,
                              const float* from) {
                            if (nearest) {
                              add(n, static_cast<int64_t>(std::round(y.at)),
                                  static_cast<int64_t>(std::round(x.at)), 1, 1, from);
                              return;
                            }
                            add(n, y.lower, x.lower, 1 - x.fraction, 1 - y.fraction, from);
                            add(n, y.lower, x.upper, x.fraction, 1 - y.fraction, from);
                            add(n, y.upper, x.lower, 1 - x.fraction, y.fraction, from);
                            add(n, y.upper, x.upper, x.fraction, y.fraction, from);
                          });
    });
  });
}

// d position / d (begin of the box, end of the box) at pixel i of a crop.
std::pair<float, float> Slopes(int64_t i, int64_t crop, int64_t size) {
  const float last = static_cast<float>(size - 1);
  if (crop <= 1) return {0.5f * last, 0.5f * last};
  const float end = static_cast<float>(i) * (last / static_cast<float>(crop - 1));
  return {last - end, end};
}

absl::StatusOr<std::unique_ptr<Kernel>> BoxesGrad(PrepareContext& p) {
  const std::string method = p.attrs().String("method", "bilinear");
  if (method != "bilinear") return InvalidArgument("method '", method, "'");
  const Shape grads = p.input_shape(0), image = p.input_shape(1);
  return DispatchType(
      TypeList<uint8_t, uint16_t, int8_t, int16_t, int32_t, int64_t, half, float, double>{},
      p.input_dtype(1), [&]<typename T>() {
        return MakeKernel([=](RunContext& run) {
          float* out = run.output<float>(0);
          std::fill_n(out, grads.dim(0) * 4, 0.0f);
          const int64_t channels = image.dim(3);
          return ForEachPixel(
              run.input<float>(0), grads, image, run.input<float>(2), run.input<int32_t>(3),
              [&](int64_t b, int64_t r, int64_t k, int64_t n, const Place& y, const Place& x,
                  const float* from) {
                auto row = [&](int64_t at) {
                  return run.input<T>(1) + (n * image.dim(1) + at) * image.dim(2) * channels;
                };
                const T *top = row(y.lower), *bottom = row(y.upper);
                const auto [y_begin, y_end] = Slopes(r, grads.dim(1), image.dim(1));
                const auto [x_begin, x_end] = Slopes(k, grads.dim(2), image.dim(2));
                for (int64_t i = 0; i < channels; ++i) {
                  auto value = [i, channels](const T* line, int64_t at) {
                    return static_cast<float>(ToCompute(line[at * channels + i]));
                  };
                  const float a = value(top, x.lower), e = value(top, x.upper);
                  const float f = value(bottom, x.lower), g = value(bottom, x.upper);
                  const float dy = ((1 - x.fraction) * (f - a) + x.fraction * (g - e)) * from[i];
                  const float dx = ((1 - y.fraction) * (e - a) + y.fraction * (g - f)) * from[i];
                  out[4 * b] += dy * y_begin;
                  out[4 * b + 1] += dx * x_begin;
                  out[4 * b + 2] += dy * y_end;
                  out[4 * b + 3] += dx * x_end;
                }
              });
        });
      });
}

const OpRegistration image_grad_op({
    .name = "CropAndResizeGradImage",
    .inputs = "grads: float, boxes: float, box_ind: int32, image_size: int32",
    .outputs = "output: T",
    .attrs = "T: type; method: string = bilinear",
    .types = "T: float half double",
    .shape = ImageGradShape,
    .reference = ImageGrad,
});

const OpRegistration boxes_grad_op({
    .name = "CropAndResizeGradBoxes",
    .inputs = "grads: float, image: T, boxes: float, box_ind: int32",
    .outputs = "output: float",
    .attrs = "T: type; method: string = bilinear",
    .types = "T: uint8 uint16 int8 int16 int32 int64 half float double",
    .shape = BoxesGradShape,
    .reference = BoxesGrad,
});

}  // namespace
}  // namespace tenon
