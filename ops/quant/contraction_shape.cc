#include "ops/quant/contraction_shape.h"

#include "env/status.h"
#include "kernels/quantized/quantized_conv.h"
#include "kernels/quantized/quantized_matmul.h"
#include "ops/quant/range_shape.h"

namespace tenon {
namespace {

// One side of the product: `outer` rows (or columns) of `inner` terms.
struct Side {
  int64_t outer, inner;
};
Side SideOf(const Shape& s, bool inner_first) {
  if (!s.has_rank()) return {-1, -1};
  return inner_first ? Side{s[1], s[0]} : Side{s[0], s[1]};
}

absl::Status ProductShape(ShapeContext& c, Shape& product) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 2));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 2));
  const Side a = SideOf(c.input(0), c.attrs().Bool("transpose_a", false));
  const Side b = SideOf(c.input(1), !c.attrs().Bool("transpose_b", false));
  if (a.inner >= 0 && b.inner >= 0 && a.inner != b.inner) {
    return InvalidArgument("cannot multiply ", c.input(0).ToString(), " and ",
                           c.input(1).ToString());
  }
  product = Shape({a.outer, b.outer});
  return absl::OkStatus();
}

}  // namespace

absl::Status QuantizedFusionShape(ShapeContext& c, const QuantizedFusion& fusion, Shape result) {
  const QuantizedInputs in = InputsOf(fusion);
  if (c.num_inputs() != in.count) {
    return InvalidArgument("there must be ", in.count, " inputs, there are ", c.num_inputs());
  }
  TENON_RETURN_IF_ERROR(ExpectScalars(c, {in.data_range, in.data_range + 1}));
  if (in.result_range >= 0) {
    TENON_RETURN_IF_ERROR(ExpectScalars(c, {in.result_range, in.result_range + 1}));
  }
  if (in.summand_range >= 0) {
    TENON_RETURN_IF_ERROR(ExpectScalars(c, {in.summand_range, in.summand_range + 1}));
  }
  const int64_t channels = result.has_rank() ? result[result.rank() - 1] : -1;
  absl::StatusOr<Shape> ranges =
      MergeShapes(c.input(in.weights_range), c.input(in.weights_range + 1));
  if (!ranges.ok()) return Annotate(ranges.status(), "the weights' min and max");
  if (ranges->has_rank() && ranges->rank() > 0) {
    const int64_t n = (*ranges)[0];
    if (ranges->rank() > 1 || (n >= 0 && n != 1 && channels >= 0 && n != channels)) {
      return InvalidArgument("the weights' ranges must be scalars or have an element for each of ",
                             channels, " channels, their shape is ", ranges->ToString());
    }
  }
  if (in.bias >= 0) {
    TENON_RETURN_IF_ERROR(c.ExpectRank(in.bias, 1));
    const int64_t n = c.input(in.bias).has_rank() ? c.input(in.bias)[0] : -1;
    if (n >= 0 && channels >= 0 && n != channels) {
      return InvalidArgument("there are ", n, " biases for ", channels, " channels");
    }
  }
  if (in.summand >= 0) {
    absl::StatusOr<Shape> merged = MergeShapes(result, c.input(in.summand));
    if (!merged.ok()) return Annotate(merged.status(), "the summand");
    result = *std::move(merged);
  }
  c.set_output(0, std::move(result));
  const bool own = fusion.result != QuantizedFusion::Result::kInt32;
  for (int i = 1; i < c.num_outputs(); ++i) c.set_output(i, own ? Shape() : *ranges);
  return absl::OkStatus();
}

absl::Status QuantizedConvShape(ShapeContext& c, ConvKind kind, const QuantizedFusion& fusion) {
  const Node node = WithExplicitPadding(c.node());
  TENON_ASSIGN_OR_RETURN(const WindowAttrs attrs, ReadWindowAttrs(AttrReader(node), 2));
  TENON_ASSIGN_OR_RETURN(Shape output, ConvOutputShape(attrs, kind, c.input(0), c.input(1)));
  if (c.dtype(1) == DType::kQuint8) TENON_RETURN_IF_ERROR(ExpectScalars(c, {4, 5}));
  return QuantizedFusionShape(c, fusion, std::move(output));
}

absl::Status UnsignedMatMulShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectScalars(c, {2, 3, 4, 5}));
  Shape product;
  TENON_RETURN_IF_ERROR(ProductShape(c, product));
  c.set_output(0, std::move(product));
  c.set_output(1, Shape());
  c.set_output(2, Shape());
  return absl::OkStatus();
}

absl::Status QuantizedMatMulShape(ShapeContext& c, const QuantizedFusion& fusion) {
  TENON_RETURN_IF_ERROR(MinFirst(c.attrs()).status());
  Shape product;
  TENON_RETURN_IF_ERROR(ProductShape(c, product));
  return QuantizedFusionShape(c, fusion, std::move(product));
}

}  // namespace tenon
