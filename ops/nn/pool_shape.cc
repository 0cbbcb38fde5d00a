#include "ops/nn/pool_shape.h"

#include "env/status.h"
#include "kernels/pooling/pool_geometry.h"

namespace tenon {

absl::Status PoolShape(ShapeContext& c, int spatial) {
  const bool from_inputs = WindowIsInput(c.attrs());
  const Tensor* ksize = from_inputs ? c.value(1) : nullptr;
  const Tensor* strides = from_inputs ? c.value(2) : nullptr;
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, spatial + 2));
  if (from_inputs && (ksize == nullptr || strides == nullptr)) {
    c.set_output(0, Shape::UnknownOfRank(spatial + 2));
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(const WindowAttrs attrs, PoolAttrs(c.attrs(), spatial, ksize, strides));
  return PoolShape(c, attrs);
}

absl::Status PoolShape(ShapeContext& c, const WindowAttrs& attrs) {
  const Shape& input = c.input(0);
  auto in = [&input](int axis) { return input.has_rank() ? input[axis] : -1; };
  Shape::Dims out(static_cast<size_t>(attrs.rank()), -1);
  out[0] = in(0);
  out[static_cast<size_t>(attrs.channel_axis())] = in(attrs.channel_axis());
  for (int i = 0; i < attrs.spatial; ++i) {
    const int axis = attrs.spatial_axis(i);
    TENON_ASSIGN_OR_RETURN(const WindowSpan span,
                           ResolveWindow(attrs, i, in(axis), attrs.window[static_cast<size_t>(i)]));
    out[static_cast<size_t>(axis)] = span.output;
  }
  c.set_output(0, Shape(absl::MakeConstSpan(out)));
  return absl::OkStatus();
}

absl::Status MaxPoolGradShape(ShapeContext& c, int spatial) {
  for (int i = 0; i < 3; ++i) TENON_RETURN_IF_ERROR(c.ExpectRank(i, spatial + 2));
  // Checked here, because nothing is run if the input is empty.
  TENON_RETURN_IF_ERROR(MergeShapes(c.input(1), c.input(2)).status());
  c.set_output(0, c.input(0).has_rank() ? c.input(0) : Shape::UnknownOfRank(spatial + 2));
  return absl::OkStatus();
}

absl::Status AvgPoolGradShape(ShapeContext& c, int spatial) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, spatial + 2));
  if (c.value(0) == nullptr) {
    c.set_output(0, Shape::UnknownOfRank(spatial + 2));
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(const Shape shape, PoolShapeOfValue(*c.value(0), spatial + 2));
  c.set_output(0, shape);
  return absl::OkStatus();
}

}  // namespace tenon
