// Runs a model op by op through the eager path, for comparisons and measurements: only single ops
// are rewritten, and nothing is planned.
#ifndef TENON_TOOLS_EAGER_MODEL_H_
#define TENON_TOOLS_EAGER_MODEL_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "runtime/eager/eager.h"
#include "runtime/session/session.h"

namespace tenon {

class EagerModel {
 public:
  // `graph` is as loaded: variables are Const nodes.
  static absl::StatusOr<std::unique_ptr<EagerModel>> Create(Graph graph,
                                                            const SessionOptions& options);

  // The dtypes and shapes of the graph's Placeholder nodes.
  std::vector<TensorInfo> inputs() const;
  // Inputs and outputs are in the graph's order. Errors name the node.
  absl::StatusOr<std::vector<Tensor>> Run(absl::Span<const Tensor> inputs);
  absl::StatusOr<std::vector<NamedTensor>> Run(absl::Span<const NamedTensor> inputs);
  absl::StatusOr<std::vector<Tensor>> Arrange(absl::Span<const NamedTensor> inputs) const;

 private:
  EagerModel() = default;

  Graph graph_;
  std::unique_ptr<Eager> eager_;
  std::vector<NodeId> calls_;                // in execution order
  std::vector<std::vector<Tensor>> values_;  // by node; constants stay
};

}  // namespace tenon

#endif  // TENON_TOOLS_EAGER_MODEL_H_
