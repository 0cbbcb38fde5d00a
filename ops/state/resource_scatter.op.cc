// ResourceScatter{Update,Add,Sub,Mul,Div,Min,Max}: rows of a variable, by index.
#include "kernels/state/scatter.h"
#include "ops/op.h"

namespace tenon {
namespace {

// Updates are a scalar, or have shape indices.shape + variable.shape[1:].
absl::Status ScatterShape(ShapeContext& c) {
  const Shape& indices = c.input(1);
  const Shape& updates = c.input(2);
  if (!indices.has_rank() || !updates.has_rank() || updates.rank() == 0) return absl::OkStatus();
  bool prefix = updates.rank() >= indices.rank();
  for (int d = 0; prefix && d < indices.rank(); ++d) {
    prefix = indices.dim(d) < 0 || updates.dim(d) < 0 || indices.dim(d) == updates.dim(d);
  }
  if (prefix) return absl::OkStatus();
  return InvalidArgument("updates of shape ", updates.ToString(),
                         " must begin with the indices' shape ", indices.ToString());
}

OpRow Row(const char* name, KernelFactory kernel) {
  return {
      .name = name,
      .inputs = "resource: resource, indices: Tindices, updates: dtype",
      .attrs = "dtype: type; Tindices: type; use_locking: bool = true",
      .types = "Tindices: int32 int64",
      .shape = ScatterShape,
      .reference = kernel,
      .stateful = true,
  };
}

const OpRegistration update(Row("ResourceScatterUpdate",
                                VariableScatterKernel<ScatterFunction::kUpdate>));

const OpRegistration add(Row("ResourceScatterAdd", VariableScatterKernel<ScatterFunction::kAdd>));

const OpRegistration sub(Row("ResourceScatterSub", VariableScatterKernel<ScatterFunction::kSub>));

const OpRegistration mul(Row("ResourceScatterMul", VariableScatterKernel<ScatterFunction::kMul>));

const OpRegistration div(Row("ResourceScatterDiv", VariableScatterKernel<ScatterFunction::kDiv>));

const OpRegistration min(Row("ResourceScatterMin", VariableScatterKernel<ScatterFunction::kMin>));

const OpRegistration max(Row("ResourceScatterMax", VariableScatterKernel<ScatterFunction::kMax>));

}  // namespace
}  // namespace tenon
