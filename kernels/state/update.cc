#include "kernels/state/update.h"

#include <utility>

#include "absl/container/inlined_vector.h"
#include "env/status.h"
#include "kernels/interface/types.h"

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

absl::Status ExpectRows(absl::Span<Tensor* const> variables, const Shape& rows) {
  for (const Tensor* variable : variables) {
    Shape shape = variable->shape();
    if (shape.rank() > 0 && rows.rank() > 0) shape.set_dim(0, rows.dim(0));
    if (shape.rank() == 0 || shape != rows || variable->shape() != variables[0]->shape()) {
      return InvalidArgument("a variable has shape ", variable->shape().ToString(),
                             ", an update of its rows ", rows.ToString());
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int64_t>> RowsAt(const RunContext& run, int input, DType dtype,
                                            int64_t count, int64_t size) {
  std::vector<int64_t> rows;
  VisitTypes(TypeList<int32_t, int64_t>{}, dtype,
             [&]<typename I>() { rows.assign(run.input<I>(input), run.input<I>(input) + count); });
  for (int64_t row : rows) {
    if (row < 0 || row >= size) return InvalidArgument("index ", row, " is not in [0, ", size, ")");
  }
  return rows;
}

}  // namespace tenon
