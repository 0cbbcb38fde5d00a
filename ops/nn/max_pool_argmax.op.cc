// MaxPoolWithArgmax and its gradients. argmax is the flat index of a window's first largest element
// in its image ((y * width + x) * channels + channel), or with include_batch_in_index in the batch.
#include "kernels/pooling/max_pool_argmax.h"

#include "kernels/pooling/pool_grad.h"
#include "ops/nn/pool_shape.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status ArgmaxShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 4));
  TENON_ASSIGN_OR_RETURN(
      const WindowAttrs attrs,
      ArgmaxPoolAttrs(c.attrs(), c.input(0).has_rank() ? c.input(0).dim(3) : -1));
  TENON_RETURN_IF_ERROR(PoolShape(c, attrs));
  const Shape output = c.outputs()[0];
  c.set_output(1, output);
  return absl::OkStatus();
}

absl::Status ArgmaxGradShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 4));
  return UnchangedShape(c);
}

absl::Status ArgmaxGradGradShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(PoolShape(c, 2));
  TENON_RETURN_IF_ERROR(MergeShapes(c.input(0), c.input(1)).status());
  return absl::OkStatus();
}

constexpr char kTypes[] =
    "T: float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64; "
    "Targmax: int32 int64";

const OpRegistration argmax_forward({
    .name = "MaxPoolWithArgmax",
    .inputs = "input: T",
    .outputs = "output: T, argmax: Targmax",
    .attrs = "T: type; ksize: list(int); strides: list(int); Targmax: type = int64; "
             "padding: string; include_batch_in_index: bool = false",
    .types = kTypes,
    .shape = ArgmaxShape,
    .reference = MaxPoolArgmaxReference,
    .accelerated = MaxPoolArgmaxVector,
    .native = "_MklNativeMaxPoolWithArgmax",
    .discontinuous = true,
    .error_bound = ErrorBound::kExact,
});

const OpRegistration argmax_grad({
    .name = "MaxPoolGradWithArgmax",
    .inputs = "input: T, grad: T, argmax: Targmax",
    .outputs = "output: T",
    .attrs = "T: type; ksize: list(int); strides: list(int); padding: string; "
             "include_batch_in_index: bool = false; Targmax: type",
    .types = kTypes,
    .shape = ArgmaxGradShape,
    .reference = MaxPoolArgmaxGrad,
    .error_bound = ErrorBound::kPoolGradient,
});

const OpRegistration argmax_grad_grad({
    .name = "MaxPoolGradGradWithArgmax",
    .inputs = "input: T, grad: T, argmax: Targmax",
    .outputs = "output: T",
    .attrs = "T: type; ksize: list(int); strides: list(int); padding: string; "
             "include_batch_in_index: bool = false; Targmax: type",
    .types = kTypes,
    .shape = ArgmaxGradGradShape,
    .reference = MaxPoolArgmaxGradGrad,
    .error_bound = ErrorBound::kPoolGradient,
});

}  // namespace
}  // namespace tenon
