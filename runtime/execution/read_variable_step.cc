#include "runtime/execution/read_variable_step.h"

#include <utility>

#include "env/status.h"
#include "kernels/state/variable.h"
#include "runtime/execution/execution.h"

namespace tenon {

absl::Status ReadVariableStep::Run(Execution& run) const {
  const StepArg& out = outputs()[0];
  TENON_ASSIGN_OR_RETURN(const Tensor handle, run.View(inputs()[0]));
  TENON_ASSIGN_OR_RETURN(const Variable* variable, VariableAt(handle.data<ObjectPtr>()));
  TENON_ASSIGN_OR_RETURN(Tensor value, variable->Read());
  if (value.dtype() != out.dtype || value.shape() != out.shape) {
    return InvalidArgument("variable '", variable->name(), "' is ", Name(value.dtype()),
                           " of shape ", value.shape().ToString(), "; expected ", Name(out.dtype),
                           " of shape ", out.shape.ToString());
  }
  run.Bring(out, std::move(value));
  return absl::OkStatus();
}

}  // namespace tenon
