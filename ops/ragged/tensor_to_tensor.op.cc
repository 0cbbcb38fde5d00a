// RaggedTensorToTensor: rows of different lengths as a dense tensor; short rows are filled with the
// default, long ones are cut if a shape is given.
#include "env/status.h"
#include "kernels/ragged/to_dense.h"
#include "kernels/reduction/segments.h"
#include "ops/op.h"

namespace tenon {
namespace {

using In = RaggedToDenseInputs;

absl::Status ToTensorShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const std::vector<RowPartition> types, ReadRowPartitions(c.attrs()));
  const Shape& values = c.input(In::kValues);
  if (!values.has_rank()) return absl::OkStatus();
  if (values.rank() == 0) return InvalidArgument("values must have an axis");
  if (c.input(In::kShape).has_rank() && c.input(In::kShape).rank() > 1) {
    return InvalidArgument("shape must be a vector, or -1");
  }
  const int ragged_dims =
      static_cast<int>(types.size()) + (types[0] == RowPartition::kFirstDimSize ? 0 : 1);
  std::vector<int64_t> shape = {-1};
  Shape shape_shape;
  if (const Tensor* value = c.value(In::kShape)) {
    shape = IntegersAt(value->dtype(), value->raw(), value->num_elements());
    shape_shape = value->shape();
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> dims,
                         RaggedToDenseDims(shape_shape, shape, ragged_dims, values));
  c.set_output(0, Shape(dims));
  return absl::OkStatus();
}

const OpRegistration to_tensor({
    .name = "RaggedTensorToTensor",
    .inputs = "shape: Tshape, values: T, default_value: T, "
              "row_partition_tensors: num_row_partition_tensors * Tindex",
    .outputs = "result: T",
    .attrs = "T: type; Tindex: type; Tshape: type; num_row_partition_tensors: int; "
             "row_partition_types: list(string)",
    .types = "Tindex: int64 int32; Tshape: int64 int32",
    .shape = ToTensorShape,
    .reference = RaggedToDenseKernel,
});

}  // namespace
}  // namespace tenon
