// Dilation2D: grayscale dilation, the largest sum of image and filter in each window. Its gradients
// go to the first largest elements.
#include "kernels/pooling/dilation.h"

#include "ops/op.h"

namespace tenon {
namespace {

constexpr char kDilationTypes[] =
    "T: float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64";

template <DilationResult result>
absl::Status DilationShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 4));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 3));
  const Shape &in = c.input(0), &filter = c.input(1);
  if (!in.has_rank() || !filter.has_rank()) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const DilationGeometry g, DilationGeometryOf(c.attrs(), in, filter));
  Shape out({g.batch, g.axes[0].out, g.axes[1].out, g.channels});
  if (out.IsComplete()) TENON_RETURN_IF_ERROR(out.CheckedElements().status());
  if (result != DilationResult::kOutput && !out.CompatibleWith(c.input(2))) {
    return InvalidArgument("out_backprop must have shape ", out.ToString(), ", but has ",
                           c.input(2).ToString());
  }
  c.set_output(0, result == DilationResult::kOutput  ? out
                  : result == DilationResult::kInput ? in
                                                     : filter);
  return absl::OkStatus();
}

const OpRegistration dilation({
    .name = "Dilation2D",
    .inputs = "input: T, filter: T",
    .outputs = "output: T",
    .attrs = "T: type; strides: list(int); rates: list(int); padding: string",
    .types = kDilationTypes,
    .shape = DilationShape<DilationResult::kOutput>,
    .reference = Dilation<DilationResult::kOutput>,
    .accelerated = VectorDilation,
    .native = "_MklNativeDilation2D",
});

const OpRegistration dilation_backprop_input({
    .name = "Dilation2DBackpropInput",
    .inputs = "input: T, filter: T, out_backprop: T",
    .outputs = "in_backprop: T",
    .attrs = "T: type; strides: list(int); rates: list(int); padding: string",
    .types = kDilationTypes,
    .shape = DilationShape<DilationResult::kInput>,
    .reference = Dilation<DilationResult::kInput>,
});

const OpRegistration dilation_backprop_filter({
    .name = "Dilation2DBackpropFilter",
    .inputs = "input: T, filter: T, out_backprop: T",
    .outputs = "filter_backprop: T",
    .attrs = "T: type; strides: list(int); rates: list(int); padding: string",
    .types = kDilationTypes,
    .shape = DilationShape<DilationResult::kFilter>,
    .reference = Dilation<DilationResult::kFilter>,
});

}  // namespace
}  // namespace tenon
