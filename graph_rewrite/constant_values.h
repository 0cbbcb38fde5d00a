// What nodes compute from constants alone, and which of these results may become constants.
#ifndef TENON_GRAPH_REWRITE_CONSTANT_VALUES_H_
#define TENON_GRAPH_REWRITE_CONSTANT_VALUES_H_

#include <optional>
#include <vector>

#include "env/containers.h"
#include "graph/tensor.h"
#include "graph_rewrite/context.h"

namespace tenon {

// For one sweep over the nodes in topological order. A result much larger than the constants below
// it would make the model larger, so it stays a node; but it is computed if a smaller result needs
// it. Such a temporary result is the product of a column and a row, for example: it may scale
// a constant as large as itself.
class ConstantValues {
 public:
  explicit ConstantValues(RuleContext& context) : context_(context) {}

  // The node's outputs if they can be computed now, from constants or from temporary results that
  // this object has been asked for before, and are small enough to be constants. Otherwise empty.
  std::vector<Tensor> Of(NodeId id);

 private:
  struct Temporary {
    std::vector<NodeId> constants;  // that it is computed from: in order, each once
    int depth = 0;                  // temporary results in a row
    size_t bytes = 0;
    std::vector<Tensor> values;  // empty until they are needed
  };

  // Adds what the node's inputs are computed from; false if some input is not known.
  bool AddSources(const Node& node, Temporary& to) const;
  void HoldLater(NodeId id, Temporary result);
  // The node's outputs, which are computed if they are temporary results; empty if they can't be.
  std::vector<Tensor> Compute(const Node& node);
  // The value of an input for which AddSources gave true.
  std::optional<Tensor> Value(Endpoint e);

  RuleContext& context_;
  HashMap<NodeId, Temporary> temporaries_;
  size_t held_bytes_ = 0;
};

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_CONSTANT_VALUES_H_
