// Tells TensorFlow of our ops and kernels, straight from the op rows.
#ifndef TENON_TF_PLUGIN_REGISTER_H_
#define TENON_TF_PLUGIN_REGISTER_H_

#include "absl/status/status.h"

namespace tenon::plugin {

// The private ops that graphs may hold, with their kernels.
absl::Status RegisterPrivateOps();

// Kernels under TensorFlow's own ops, chosen before its own: for eager, and for graphs that the
// graph pass does not see. Both under the plain name and under the one that TensorFlow's oneDNN
// rewrite gives.
absl::Status RegisterEagerKernels();

}  // namespace tenon::plugin

#endif  // TENON_TF_PLUGIN_REGISTER_H_
