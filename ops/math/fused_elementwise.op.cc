// _FusedElementwise: a straight-line program of elementwise ops (kernels/elementwise/program.h).
// Inputs are broadcast together as in NumPy. _FusedElementwiseToIntegers: the same, with its result
// x converted to the 8-bit integer round(x / step + zero), saturated; step is the scale.
#include "kernels/elementwise/fused.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status BroadcastAllShape(ShapeContext& c) {
  Shape shape;
  for (int i = 0; i < c.num_inputs(); ++i) {
    TENON_ASSIGN_OR_RETURN(shape, BroadcastShapes(shape, c.input(i)));
  }
  c.set_output(0, shape);
  return absl::OkStatus();
}

const OpRegistration to_integers({
    .name = "_FusedElementwiseToIntegers",
    .inputs = "inputs: N * float",
    .outputs = "output: T",
    .attrs = "N: int; T: type; program: list(string); step: float = 1.0; "
             "half_to_even: bool = false; zero: int = 0",
    .types = "T: qint8 quint8",
    .shape = BroadcastAllShape,
    .reference = FusedElementwiseToIntegersReference,
    .accelerated = FusedElementwiseToIntegersVector,
    .native = "_MklNativeFusedElementwiseToIntegers",
    .native_types = "qint8 quint8",
    .eager = false,
    .internal = true,
});

const OpRegistration fused_elementwise({
    .name = "_FusedElementwise",
    .inputs = "inputs: N * T",
    .outputs = "output: T",
    .attrs = "N: int; T: type; program: list(string)",
    .types = "T: half bfloat16 float double",
    .shape = BroadcastAllShape,
    .reference = FusedElementwiseReference,
    .accelerated = FusedElementwiseVector,
    .native = "_MklNativeFusedElementwise",
    .native_types = "float bfloat16",
    .elementwise = true,
    .eager = false,
    .internal = true,
    .precision = PrecisionRole::kFollows,
    .batch_axis = batch_axis::Elementwise,
});

}  // namespace
}  // namespace tenon
