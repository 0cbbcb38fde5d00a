// AddSparseToTensorsMap, AddManySparseToTensorsMap, TakeManySparseFromTensorsMap: sparse tensors
// that pass through ops for dense ones as handles.
#include "kernels/sparse/tensors_map.h"

#include "env/status.h"
#include "ops/op.h"
#include "ops/sparse/sparse_shape.h"

namespace tenon {
namespace {

constexpr char kSparseInputs[] = "sparse_indices: int64, sparse_values: T, sparse_shape: int64";

absl::Status AddedShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectSparse(c, 0));
  c.set_output(0, Shape());
  return absl::OkStatus();
}

const OpRegistration add_sparse_to_tensors_map({
    .name = "AddSparseToTensorsMap",
    .inputs = kSparseInputs,
    .outputs = "sparse_handle: int64",
    .attrs = "T: type; container: string = ; shared_name: string = ",
    .shape = AddedShape,
    .reference = AddSparseToMapKernel,
    .stateful = true,
});

absl::Status ManyAddedShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectSparseBatch(c));
  c.set_output(0, Shape({-1}));
  return absl::OkStatus();
}

const OpRegistration add_many_sparse_to_tensors_map({
    .name = "AddManySparseToTensorsMap",
    .inputs = kSparseInputs,
    .outputs = "sparse_handles: int64",
    .attrs = "T: type; container: string = ; shared_name: string = ",
    .shape = ManyAddedShape,
    .reference = AddManySparseToMapKernel,
    .stateful = true,
});

absl::Status TakenShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 1));
  c.set_output(0, Shape({-1, -1}));
  c.set_output(1, Shape({-1}));
  c.set_output(2, Shape({-1}));
  return absl::OkStatus();
}

const OpRegistration take_many_sparse_from_tensors_map({
    .name = "TakeManySparseFromTensorsMap",
    .inputs = "sparse_handles: int64",
    .outputs = "sparse_indices: int64, sparse_values: dtype, sparse_shape: int64",
    .attrs = "dtype: type; container: string = ; shared_name: string = ",
    .shape = TakenShape,
    .reference = TakeManySparseFromMapKernel,
    .stateful = true,
});

}  // namespace
}  // namespace tenon
