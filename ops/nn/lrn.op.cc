// LRN, local response normalization over channels, and LRNGrad. With
// N[c] = bias + alpha * sum(x[k]^2, |k - c| <= depth_radius):
//
//   y = x N^-beta
//   x_backprop[c] = dy[c] N[c]^-beta - 2 alpha beta x[c] sum(dy[k] y[k] / N[k], |k - c| <= radius)
#include "kernels/normalization/lrn.h"

#include <limits>

#include "ops/op.h"

namespace tenon {
namespace {

absl::Status LrnShape(ShapeContext& c) {
  const int64_t radius = c.attrs().Int("depth_radius", 5);
  if (radius < 0 || radius > std::numeric_limits<int32_t>::max()) {
    return InvalidArgument("depth_radius must not be negative or beyond int32, but is ", radius);
  }
  Shape shape = Shape::UnknownOfRank(4);
  for (int i = 0; i < c.num_inputs(); ++i) {
    TENON_RETURN_IF_ERROR(c.ExpectRank(i, 4));
    if (!shape.CompatibleWith(c.input(i))) {
      return InvalidArgument("all inputs must have one shape, but input ", i, " has ",
                             c.input(i).ToString(), ", not ", shape.ToString());
    }
    TENON_ASSIGN_OR_RETURN(shape, MergeShapes(shape, c.input(i)));
  }
  c.set_output(0, shape);
  return absl::OkStatus();
}

const OpRegistration lrn({
    .name = "LRN",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "depth_radius: int = 5; bias: float = 1.0; alpha: float = 1.0; beta: float = 0.5; "
             "T: type = float",
    .types = "T: half bfloat16 float",
    .shape = LrnShape,
    .reference = LrnReference<LrnDirection::kForward>,
    .accelerated = LrnVector<LrnDirection::kForward>,
    .native = "_MklNativeLRN",
    .native_types = "float bfloat16",
    .batch_axis = batch_axis::FirstInput,
    .error_bound = ErrorBound::kLocalNormalization,
});

const OpRegistration lrn_grad({
    .name = "LRNGrad",
    .inputs = "input_grads: T, input_image: T, output_image: T",
    .outputs = "output: T",
    .attrs = "depth_radius: int = 5; bias: float = 1.0; alpha: float = 1.0; beta: float = 0.5; "
             "T: type = float",
    .types = "T: half bfloat16 float",
    .shape = LrnShape,
    .reference = LrnReference<LrnDirection::kGradient>,
    .accelerated = LrnVector<LrnDirection::kGradient>,
    .native = "_MklNativeLRNGrad",
    .native_types = "float bfloat16",
    .error_bound = ErrorBound::kLocalNormalizationGradient,
});

}  // namespace
}  // namespace tenon
