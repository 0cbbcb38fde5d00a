// ResourceScatterNd{Update,Add,Sub,Min,Max}: the TensorScatter… ops, on a variable.
#include "kernels/state/scatter.h"
#include "ops/op.h"

namespace tenon {
namespace {

OpRow Row(const char* name, KernelFactory kernel) {
  return {
      .name = name,
      .inputs = "ref: resource, indices: Tindices, updates: T",
      .attrs = "T: type; Tindices: type; use_locking: bool = true; bad_indices_policy: string = ",
      .types = "Tindices: int32 int64",
      .reference = kernel,
      .stateful = true,
  };
}

const OpRegistration update(Row("ResourceScatterNdUpdate",
                                VariableScatterNdKernel<ScatterFunction::kUpdate>));
const OpRegistration add(Row("ResourceScatterNdAdd",
                             VariableScatterNdKernel<ScatterFunction::kAdd>));
const OpRegistration sub(Row("ResourceScatterNdSub",
                             VariableScatterNdKernel<ScatterFunction::kSub>));
const OpRegistration min(Row("ResourceScatterNdMin",
                             VariableScatterNdKernel<ScatterFunction::kMin>));
const OpRegistration max(Row("ResourceScatterNdMax",
                             VariableScatterNdKernel<ScatterFunction::kMax>));

}  // namespace
}  // namespace tenon
