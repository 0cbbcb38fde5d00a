#include "ops/nn/conv_shape.h"

#include "env/status.h"
#include "kernels/interface/axis.h"
#include "ops/nn/contraction_shape.h"

namespace tenon {
namespace {

// The shape given by input `i`, as far as it is known. For Conv2D's input it may consist of height
// and width alone.
absl::StatusOr<Shape> SizesOf(const ShapeContext& c, int i, const ConvGradientOp& op,
                              const WindowAttrs& a) {
  if (op.sizes == ConvGradientOp::Sizes::kTensor) {
    TENON_RETURN_IF_ERROR(c.ExpectRank(i, a.rank()));
    return c.input(i).has_rank() ? c.input(i) : Shape::UnknownOfRank(a.rank());
  }
  TENON_RETURN_IF_ERROR(c.ExpectRank(i, 1));
  const bool height_and_width = i == 0 && op.spatial == 2 && op.kind == ConvKind::kDense;
  const int64_t count = c.input(i).has_rank() ? c.input(i).dim(0) : -1;
  if (count >= 0 && count != a.rank() && !(height_and_width && count == 2)) {
    return InvalidArgument("the sizes must be ", a.rank(), " values, but are ", count);
  }
  if (c.value(i) == nullptr) return Shape::UnknownOfRank(a.rank());
  TENON_ASSIGN_OR_RETURN(const Shape sizes, ShapeOfValue(*c.value(i), MinusOne::kRefused));
  if (count == a.rank()) return sizes;
  Shape shape = Shape::UnknownOfRank(a.rank());
  for (int d = 0; d < a.spatial; ++d) shape.set_dim(a.spatial_axis(d), sizes[d]);
  const Shape& filter = c.input(1);
  if (filter.has_rank() && filter.rank() == a.rank()) {
    shape.set_dim(a.channel_axis(), filter[a.spatial]);
  }
  return shape;
}

}  // namespace

absl::Status ConvShape(ShapeContext& c, int spatial, ConvKind kind) {
  TENON_ASSIGN_OR_RETURN(const WindowAttrs attrs, ReadWindowAttrs(c.attrs(), spatial));
  TENON_ASSIGN_OR_RETURN(Shape output, ConvOutputShape(attrs, kind, c.input(0), c.input(1)));
  if (c.node().attrs.contains("fused_ops")) {
    TENON_ASSIGN_OR_RETURN(const FusedOps ops, ParseFusedOps(c.attrs(), 2, c.num_inputs()));
    TENON_RETURN_IF_ERROR(CheckFusedOpShapes(ops, c, output, attrs.channel_axis()));
  }
  c.set_output(0, std::move(output));
  return absl::OkStatus();
}

absl::Status ConvInputGradientShape(ShapeContext& c, const ConvGradientOp& op) {
  TENON_ASSIGN_OR_RETURN(const WindowAttrs a, ReadWindowAttrs(c.attrs(), op.spatial));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, a.rank()));
  TENON_RETURN_IF_ERROR(c.ExpectRank(kOutBackprop, a.rank()));
  TENON_ASSIGN_OR_RETURN(Shape input, SizesOf(c, 0, op, a));
  const Shape &filter = c.input(1), &out_backprop = c.input(kOutBackprop);
  if (input[0] < 0 && out_backprop.has_rank()) input.set_dim(0, out_backprop[0]);
  if (op.kind == ConvKind::kDepthwise && input[a.channel_axis()] < 0 && filter.has_rank()) {
    input.set_dim(a.channel_axis(), filter[a.spatial]);
  }
  TENON_RETURN_IF_ERROR(CheckOutBackprop(a, op.kind, input, filter, out_backprop));
  c.set_output(0, std::move(input));
  return absl::OkStatus();
}

absl::Status ConvFilterGradientShape(ShapeContext& c, const ConvGradientOp& op) {
  TENON_ASSIGN_OR_RETURN(const WindowAttrs a, ReadWindowAttrs(c.attrs(), op.spatial));
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, a.rank()));
  TENON_RETURN_IF_ERROR(c.ExpectRank(kOutBackprop, a.rank()));
  TENON_ASSIGN_OR_RETURN(Shape filter, SizesOf(c, 1, op, a));
  const Shape& out_backprop = c.input(kOutBackprop);
  const int64_t channels = out_backprop.has_rank() ? out_backprop[a.channel_axis()] : -1;
  if (op.kind == ConvKind::kDense && filter[a.spatial + 1] < 0) {
    filter.set_dim(a.spatial + 1, channels);
  }
  TENON_RETURN_IF_ERROR(CheckOutBackprop(a, op.kind, c.input(0), filter, out_backprop));
  c.set_output(0, std::move(filter));
  if (c.num_outputs() > 1) c.set_output(1, Shape({channels}));
  return absl::OkStatus();
}

}  // namespace tenon
