// TensorScatterUpdate, TensorScatterAdd, TensorScatterSub, TensorScatterMin, TensorScatterMax and
// ScatterNdNonAliasingAdd: a copy of a tensor with slices replaced or combined, in the order of the
// updates.
#include "kernels/layout/addressing.h"
#include "kernels/layout/scatter.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status TensorScatterShape(ShapeContext& c) {
  const Shape& whole = c.input(0);
  if (whole.has_rank()) {
    if (whole.rank() < 1) return InvalidArgument("tensor must have at least one dimension");
    TENON_RETURN_IF_ERROR(CheckUpdates(whole, c.input(1), c.input(2)));
  }
  c.set_output(0, whole);
  return absl::OkStatus();
}

OpRow Row(const char* name, const char* inputs, const char* types, KernelFactory reference,
          ErrorBound error_bound) {
  return {
      .name = name,
      .inputs = inputs,
      .outputs = "output: T",
      .attrs = "T: type; Tindices: type; bad_indices_policy: string = ",
      .types = types,
      .shape = TensorScatterShape,
      .reference = reference,
      .error_bound = error_bound,
  };
}

constexpr char kInputs[] = "tensor: T, indices: Tindices, updates: T";

constexpr char kIndexTypes[] = "Tindices: int32 int64";

const OpRegistration update_op(Row("TensorScatterUpdate", kInputs,
                                   "Tindices: int16 int32 int64 uint16",
                                   TensorScatterKernel<ScatterFunction::kUpdate>,
                                   ErrorBound::kExact));

const OpRegistration add_op(Row("TensorScatterAdd", kInputs, kIndexTypes,
                                TensorScatterKernel<ScatterFunction::kAdd>,
                                ErrorBound::kSegmentSum));

const OpRegistration sub_op(Row("TensorScatterSub", kInputs, kIndexTypes,
                                TensorScatterKernel<ScatterFunction::kSub>,
                                ErrorBound::kSegmentSum));

const OpRegistration min_op(Row("TensorScatterMin", kInputs, kIndexTypes,
                                TensorScatterKernel<ScatterFunction::kMin>, ErrorBound::kExact));

const OpRegistration max_op(Row("TensorScatterMax", kInputs, kIndexTypes,
                                TensorScatterKernel<ScatterFunction::kMax>, ErrorBound::kExact));

const OpRegistration non_aliasing_add_op(
    Row("ScatterNdNonAliasingAdd", "input: T, indices: Tindices, updates: T",
        "T: float double int32 uint8 int16 int8 complex64 int64 bfloat16 uint16 complex128 half "
        "uint32 uint64 bool; Tindices: int32 int64",
        TensorScatterKernel<ScatterFunction::kAdd>, ErrorBound::kSegmentSum));

}  // namespace
}  // namespace tenon
