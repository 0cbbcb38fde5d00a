#include "kernels/state/update.h"

#include <utility>

#include "absl/container/inlined_vector.h"
#include "env/status.h"

namespace tenon {

absl::StatusOr<std::unique_ptr<Kernel>> UpdateKernel(DType dtype, std::vector<int> handles,
                                                     VariableUpdate update) {
  return MakeKernel([dtype, handles = std::move(handles),
                     update = std::move(update)](RunContext& run) -> absl::Status {
    absl::InlinedVector<Variable*, 4> variables;
    for (int i : handles) {
      TENON_ASSIGN_OR_RETURN(Variable * variable, VariableAt(run.input<ObjectPtr>(i)));
      if (variable->dtype() != dtype) {
        return InvalidArgument("variable '", variable->name(), "' must be ", Name(dtype),
                               ", but is ", Name(variable->dtype()));
      }
      variables.push_back(variable);
    }
    return UpdateVariables(variables,
                           [&](absl::Span<Tensor* const> values) { return update(run, values); });
  });
}

absl::Status ExpectShape(absl::Span<Tensor* const> variables, const Shape& shape) {
  for (const Tensor* variable : variables) {
    if (variable->shape() != shape) {
      return InvalidArgument("a variable has shape ", variable->shape().ToString(), ", its update ",
                             shape.ToString());
    }
  }
  return absl::OkStatus();
}

}  // namespace tenon
