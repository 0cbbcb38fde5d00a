// DrawBoundingBoxes(V2): the outlines of boxes drawn onto images.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "kernels/interface/types.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status DrawShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 4));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 3));
  const Shape& images = c.input(0);
  const int64_t depth = images.has_rank() ? images.dim(3) : -1;
  if (depth >= 0 && depth != 1 && depth != 3 && depth != 4) {
    return InvalidArgument("images must have 1, 3 or 4 channels, but have ", depth);
  }
  const int64_t batch = images.has_rank() ? images.dim(0) : -1;
  if (!Shape({batch, -1, 4}).CompatibleWith(c.input(1))) {
    return InvalidArgument("boxes of shape ", c.input(1).ToString(), " for images of shape ",
                           images.ToString());
  }
  if (c.num_inputs() > 2) {
    TENON_RETURN_IF_ERROR(c.ExpectRank(2, 2));
    if (c.input(2).has_rank() && c.input(2).dim(1) >= 0 && c.input(2).dim(1) < depth) {
      return InvalidArgument("colors of ", c.input(2).dim(1), " channels for images of ", depth);
    }
  }
  c.set_output(0, images);
  return absl::OkStatus();
}

// TensorFlow's colors, used in turn. In grayscale images every line is white.
constexpr std::array<float, 4> kColors[] = {
    {1, 1, 0, 1},       {0, 0, 1, 1},    {1, 0, 0, 1},    {0, 1, 0, 1}, {0.5f, 0, 0.5f, 1},
    {0.5f, 0.5f, 0, 1}, {0.5f, 0, 0, 1}, {0, 0, 0.5f, 1}, {0, 1, 1, 1}, {1, 0, 1, 1}};

// The pixel at a fraction, truncated toward zero; positions far outside stay outside.
int64_t PixelOf(float fraction, int64_t size) {
  const float at = fraction * static_cast<float>(size - 1);
  if (std::isnan(at)) return -1;
  return static_cast<int64_t>(std::min(std::max(at, -2.0f), static_cast<float>(size) + 1));
}

absl::StatusOr<std::unique_ptr<Kernel>> Draw(PrepareContext& p) {
  const Shape images = p.input_shape(0), boxes = p.input_shape(1);
  const bool own_colors = p.num_inputs() > 2 && p.input_shape(2).num_elements() > 0;
  const Shape colors = own_colors ? p.input_shape(2) : Shape({std::ssize(kColors), 4});
  p.AllowInPlace(0, 0);
  return DispatchType(TypeList<float, half>{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      T* out = run.output<T>(0);
      if (out != run.input<T>(0)) std::copy_n(run.input<T>(0), images.num_elements(), out);
      const int64_t height = images.dim(1), width = images.dim(2), depth = images.dim(3);
      const float* box = run.input<float>(1);
      for (int64_t n = 0; n < images.dim(0); ++n, out += height * width * depth) {
        for (int64_t b = 0; b < boxes.dim(1); ++b, box += 4) {
          const int64_t top = PixelOf(box[0], height), left = PixelOf(box[1], width);
          const int64_t bottom = PixelOf(box[2], height), right = PixelOf(box[3], width);
          if (top > bottom || left > right || top >= height || bottom < 0 || left >= width ||
              right < 0) {
            continue;
          }
          const int64_t row = b % colors.dim(0);
          const float* color = own_colors ? run.input<float>(2) + row * colors.dim(1)
                                          : kColors[static_cast<size_t>(row)].data();
          auto dot = [&](int64_t y, int64_t x) {
            if (y < 0 || y >= height || x < 0 || x >= width) return;
            T* to = out + (y * width + x) * depth;
            const bool white = depth == 1 && !own_colors;
            for (int64_t i = 0; i < depth; ++i) to[i] = static_cast<T>(white ? 1.0f : color[i]);
          };
          for (int64_t x = std::max<int64_t>(left, 0); x <= std::min(right, width - 1); ++x) {
            dot(top, x);
            dot(bottom, x);
          }
          for (int64_t y = std::max<int64_t>(top, 0); y <= std::min(bottom, height - 1); ++y) {
            dot(y, left);
            dot(y, right);
          }
        }
      }
      return absl::OkStatus();
    });
  });
}

const OpRegistration draw_bounding_boxes({
    .name = "DrawBoundingBoxes",
    .inputs = "images: T, boxes: float",
    .outputs = "output: T",
    .attrs = "T: type = float",
    .types = "T: float half",
    .shape = DrawShape,
    .reference = Draw,
});

const OpRegistration draw_bounding_boxes_v2({
    .name = "DrawBoundingBoxesV2",
    .inputs = "images: T, boxes: float, colors: float",
    .outputs = "output: T",
    .attrs = "T: type = float",
    .types = "T: float half",
    .shape = DrawShape,
    .reference = Draw,
});

}  // namespace
}  // namespace tenon
