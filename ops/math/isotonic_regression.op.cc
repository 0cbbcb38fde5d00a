// IsotonicRegression: the falling sequence that is nearest to each row, in squares.
#include "kernels/reduction/order.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status IsotonicShape(ShapeContext& c) {
  if (c.input(0).has_rank() && c.input(0).rank() == 0) {
    return InvalidArgument("input must have at least 1 dimension");
  }
  return UnchangedShape(c);
}

const OpRegistration isotonic_regression({
    .name = "IsotonicRegression",
    .inputs = "input: T",
    .outputs = "output: output_dtype, segments: int32",
    .attrs = "output_dtype: type = float; T: type",
    .types = "output_dtype: half bfloat16 float double; T: float double half bfloat16 int8 int16 "
             "int32 int64 uint8 uint16 uint32 uint64",
    .shape = IsotonicShape,
    .reference = IsotonicKernel,
    .discontinuous = true,
});

}  // namespace
}  // namespace tenon
