// From an op row to results: infers output specs, prepares a kernel, evaluates it once. Used by
// constant folding, plans, eager calls and tests.
#ifndef TENON_OPS_EVALUATE_H_
#define TENON_OPS_EVALUATE_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "graph/tensor.h"
#include "kernels/interface/kernel.h"
#include "ops/op.h"

namespace tenon {

// The dtype and shape of every output. Checks the number and dtypes of the inputs against the op's
// signature. Errors name the node.
absl::StatusOr<std::vector<TensorSpec>> InferOutputs(const OpInfo& op, const Node& node,
                                                     absl::Span<const TensorSpec> inputs);

// A kernel with the requests of its Prepare.
struct PreparedKernel {
  std::shared_ptr<const Kernel> kernel;
  std::vector<TensorSpec> outputs;  // value is always null
  size_t scratch_bytes = 0;
  std::vector<std::pair<int, int>> in_place;  // (input, output)
  std::vector<int> unread;                    // inputs that Run never reads
  std::vector<int> value_inputs;              // inputs whose values the kernel depends on
  bool accelerated = false;
};

// Prepares the kernel of a node. For a native op name it is the accelerated kernel, or the
// reference kernel if that is Unimplemented; for a plain name it is the reference kernel. `inputs`
// have complete shapes; `constants` is empty or has one entry (may be null) per input. Errors name
// the node.
absl::StatusOr<PreparedKernel> PrepareNode(const Node& node, absl::Span<const TensorSpec> inputs,
                                           absl::Span<Constant* const> constants,
                                           const Services& services);

// Runs a prepared kernel once, with its own memory.
absl::StatusOr<std::vector<Tensor>> RunKernel(const PreparedKernel& prepared,
                                              absl::Span<const Tensor> inputs);

// PrepareNode and RunKernel on concrete inputs; flushes denormals.
absl::StatusOr<std::vector<Tensor>> Evaluate(const Node& node, absl::Span<const Tensor> inputs,
                                             const Services& services);

}  // namespace tenon

#endif  // TENON_OPS_EVALUATE_H_
