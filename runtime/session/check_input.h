// Whether a tensor may be fed to an input.
#ifndef TENON_RUNTIME_SESSION_CHECK_INPUT_H_
#define TENON_RUNTIME_SESSION_CHECK_INPUT_H_

#include "absl/status/status.h"
#include "runtime/session/session.h"

namespace tenon {

// InvalidArgument, naming the input, unless `tensor` has its dtype and fits its shape.
absl::Status CheckInput(const TensorInfo& input, const Tensor& tensor);

}  // namespace tenon

#endif  // TENON_RUNTIME_SESSION_CHECK_INPUT_H_
