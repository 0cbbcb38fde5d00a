// Tells TensorFlow of our ops and kernels, straight from the op rows.
#ifndef TENON_TF_PLUGIN_REGISTER_H_
#define TENON_TF_PLUGIN_REGISTER_H_

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/process/process_graph.h"

namespace tenon::plugin {

// All that TensorFlow knows, by name.
using TensorFlowOps = absl::flat_hash_map<std::string, ProcessOp>;
absl::StatusOr<TensorFlowOps> OpsOfTensorFlow();

// The private ops that graphs may hold, with their kernels. AlreadyExists where TensorFlow knows
// them: it ends the process at a second op of a name.
absl::Status RegisterPrivateOps(const TensorFlowOps& known);

// Kernels under TensorFlow's own ops, chosen before its own: for eager, and for graphs that the
// graph pass does not see. Both under the plain name and under the one that TensorFlow's oneDNN
// rewrite gives.
absl::Status RegisterEagerKernels(const TensorFlowOps& known);

}  // namespace tenon::plugin

#endif  // TENON_TF_PLUGIN_REGISTER_H_
