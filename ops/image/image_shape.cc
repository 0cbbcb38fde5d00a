#include "ops/image/image_shape.h"

#include "env/status.h"
#include "kernels/interface/axis.h"

namespace tenon {

absl::Status CheckPixels(const Shape& image) {
  if (image.has_rank() && (image.dim(1) == 0 || image.dim(2) == 0)) {
    return InvalidArgument("an image without pixels");
  }
  return absl::OkStatus();
}

absl::Status CheckResizeFlags(const ShapeContext& c) {
  if (c.attrs().Bool("align_corners", false) && c.attrs().Bool("half_pixel_centers", false)) {
    return InvalidArgument("align_corners and half_pixel_centers exclude each other");
  }
  return absl::OkStatus();
}

absl::Status SetResized(ShapeContext& c, const Shape& image, int size_input) {
  if (!c.input(size_input).CompatibleWith(Shape({2}))) {
    return InvalidArgument("size must be a vector of 2, but has shape ",
                           c.input(size_input).ToString());
  }
  Shape out = image.has_rank() ? image : Shape::UnknownOfRank(4);
  out.set_dim(1, -1);
  out.set_dim(2, -1);
  if (c.value(size_input) != nullptr) {
    TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> size, IntegersOf(*c.value(size_input)));
    if (size[0] <= 0 || size[1] <= 0) {
      return InvalidArgument("a size of ", size[0], " by ", size[1]);
    }
    out.set_dim(1, size[0]);
    out.set_dim(2, size[1]);
  }
  if (out.IsComplete()) TENON_RETURN_IF_ERROR(out.CheckedElements().status());
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

}  // namespace tenon
