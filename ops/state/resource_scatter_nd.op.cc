// ResourceScatterNd{Update,Add,Sub,Min,Max}: the TensorScatter… ops, on a variable.
#include "kernels/state/scatter.h"
#include "ops/op.h"

namespace tenon {
namespace {

OpRow ScatterNdRow(const char* name, KernelFactory kernel) {
  return {
      .name = name,
      .inputs = "ref: resource, indices: Tindices, updates: T",
      .attrs = "T: type; Tindices: type; use_locking: bool = true; bad_indices_policy: string = ",
      .types = "Tindices: int32 int64",
      .reference = kernel,
      .stateful = true,
  };
}

const OpRegistration nd_update(ScatterNdRow("ResourceScatterNdUpdate",
                                            VariableScatterNdKernel<ScatterFunction::kUpdate>));
const OpRegistration nd_add(ScatterNdRow("ResourceScatterNdAdd",
                                         VariableScatterNdKernel<ScatterFunction::kAdd>));
const OpRegistration nd_sub(ScatterNdRow("ResourceScatterNdSub",
                                         VariableScatterNdKernel<ScatterFunction::kSub>));
const OpRegistration nd_min(ScatterNdRow("ResourceScatterNdMin",
                                         VariableScatterNdKernel<ScatterFunction::kMin>));
const OpRegistration nd_max(ScatterNdRow("ResourceScatterNdMax",
                                         VariableScatterNdKernel<ScatterFunction::kMax>));

}  // namespace
}  // namespace tenon
