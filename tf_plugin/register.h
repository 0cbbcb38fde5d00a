// Registers our ops and kernels with TensorFlow, directly from the op rows.
#ifndef TENON_TF_PLUGIN_REGISTER_H_
#define TENON_TF_PLUGIN_REGISTER_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "env/containers.h"
#include "proto/process/process_graph.h"

namespace tenon::plugin {

// All ops that TensorFlow knew at the first call, by name.
using TensorFlowOps = HashMap<std::string, ProcessOp>;
const absl::StatusOr<TensorFlowOps>& OpsOfTensorFlow();

// Registers the private ops that graphs may contain, with their kernels. AlreadyExists if
// TensorFlow knows them: it terminates the process at a second op with the same name.
absl::Status RegisterPrivateOps(const TensorFlowOps& known);

// Registers kernels under TensorFlow's own ops, with higher priority: for eager ops, and for graphs
// that the graph pass does not see. They are registered under the plain name and under the name
// that TensorFlow's oneDNN rewrite gives.
absl::Status RegisterEagerKernels(const TensorFlowOps& known);

}  // namespace tenon::plugin

#endif  // TENON_TF_PLUGIN_REGISTER_H_
