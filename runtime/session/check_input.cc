#include "runtime/session/check_input.h"

#include "env/status.h"

namespace tenon {

absl::Status CheckInput(const TensorInfo& input, const Tensor& tensor) {
  if (input.dtype != DType::kInvalid && tensor.dtype() != input.dtype) {
    return InvalidArgument("input '", input.name, "' must be ", Name(input.dtype), ", but is ",
                           Name(tensor.dtype()));
  }
  if (!tensor.shape().CompatibleWith(input.shape)) {
    return InvalidArgument("input '", input.name, "' must have shape ", input.shape.ToString(),
                           ", but has ", tensor.shape().ToString());
  }
  return absl::OkStatus();
}

}  // namespace tenon
