// Follows the handles of variables through a graph of TensorFlow's.
#ifndef TENON_TF_PLUGIN_VARIABLE_USE_H_
#define TENON_TF_PLUGIN_VARIABLE_USE_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "env/containers.h"
#include "graph/graph.h"
#include "proto/process/process_graph.h"

namespace tenon::plugin {

// Whether the op gives a variable's value, or rows of it.
bool GivesValue(absl::string_view op);

class VariableUse {
 public:
  // `order`: the nodes, each after its inputs. Those of which `computes` is true get no variables.
  template <typename Computes>
  VariableUse(const ProcessGraph& process, const Graph& graph, const std::vector<NodeId>& order,
              const Computes& computes)
      : process_(process), graph_(graph) {
    for (const NodeId id : order) {
      if (!computes(graph.node(id))) Note(graph.node(id));
    }
  }

  // The tensor that control flow and identities have passed on to be this one.
  Endpoint Source(const Endpoint& e) const;
  // The dtype of the variable's value. Invalid if no node reads it, or if one asks whether it has a
  // value.
  DType ValueOf(const Endpoint& handle) const;
  // The nodes that may change the variable.
  absl::Span<const NodeId> WritersOf(const Endpoint& handle) const;
  // Whether the node reads a variable that no node of the graph may change.
  bool ReadsConstant(NodeId id) const;

 private:
  void Note(const Node& n);

  const ProcessGraph& process_;
  const Graph& graph_;
  HashMap<NodeId, Endpoint> passed_on_;             // on all outputs
  HashMap<Endpoint, std::vector<NodeId>> writers_;  // of variables, and readers of other tensors
  HashSet<Endpoint> asked_;                         // whether they have a value
  HashMap<Endpoint, DType> dtypes_;
};

}  // namespace tenon::plugin

#endif  // TENON_TF_PLUGIN_VARIABLE_USE_H_
