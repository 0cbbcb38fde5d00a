// From an op row to results: output specs, a prepared kernel, one evaluation. Constant folding,
// plans, eager and tests all come through here.
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

// dtype and shape of every output. Checks the number and dtypes of the inputs against the op's
// signature. Errors name the node.
absl::StatusOr<std::vector<TensorSpec>> InferOutputs(const OpInfo& op, const Node& node,
                                                     absl::Span<const TensorSpec> inputs);

// A kernel with what its Prepare asked for.
struct PreparedKernel {
  std::shared_ptr<const Kernel> kernel;
  std::vector<TensorSpec> outputs;  // value is always null
  size_t scratch_bytes = 0;
  std::vector<std::pair<int, int>> in_place;  // (input, output)
  std::vector<int> unread;                    // inputs that Run never reads
  std::vector<int> value_inputs;              // inputs whose value is part of the kernel
  bool accelerated = false;
};

// Prepares the kernel of a node: for a native op name the accelerated one and, where that is
// Unimplemented, the standard one; for a plain name the standard one. `inputs` have complete
// shapes; `constants` is empty or has one entry (may be null) per input. Errors name the node.
absl::StatusOr<PreparedKernel> PrepareNode(const Node& node, absl::Span<const TensorSpec> inputs,
                                           absl::Span<Constant* const> constants,
                                           const Services& services);

// Runs a prepared kernel once, with memory of its own.
absl::StatusOr<std::vector<Tensor>> RunKernel(const PreparedKernel& prepared,
                                              absl::Span<const Tensor> inputs);

// PrepareNode and RunKernel on concrete inputs.
absl::StatusOr<std::vector<Tensor>> Evaluate(const Node& node, absl::Span<const Tensor> inputs,
                                             const Services& services);

}  // namespace tenon

#endif  // TENON_OPS_EVALUATE_H_
