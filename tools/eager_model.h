// A model run op by op through the eager path, for comparing and measuring: nothing is rewritten
// but single ops, nothing planned.
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
  // As the loader gives graphs: variables are Const nodes.
  static absl::StatusOr<std::unique_ptr<EagerModel>> Create(Graph graph,
                                                            const SessionOptions& options);

  // Dtypes and shapes as the graph's Placeholder nodes say.
  std::vector<TensorInfo> inputs() const;
  // In the order of the graph's inputs and outputs. Errors name the node.
  absl::StatusOr<std::vector<Tensor>> Run(absl::Span<const Tensor> inputs);
  absl::StatusOr<std::vector<NamedTensor>> Run(absl::Span<const NamedTensor> inputs);
  absl::StatusOr<std::vector<Tensor>> Arrange(absl::Span<const NamedTensor> inputs) const;

 private:
  EagerModel() = default;

  Graph graph_;
  std::unique_ptr<Eager> eager_;
  std::vector<NodeId> calls_;                // in an order in which they can run
  std::vector<std::vector<Tensor>> values_;  // by node; constants stay
};

}  // namespace tenon

#endif  // TENON_TOOLS_EAGER_MODEL_H_
