// Follows the handles of variables through a graph of TensorFlow's.
#ifndef TENON_TF_PLUGIN_VARIABLE_USE_H_
#define TENON_TF_PLUGIN_VARIABLE_USE_H_

#include <vector>

#include "env/containers.h"
#include "graph/graph.h"
#include "proto/process/process_graph.h"

namespace tenon::plugin {

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
  // The dtype of the variable's value if the node reads it, and no node of the graph may change the
  // variable or asks whether it has a value; else invalid.
  DType ReadsConstant(NodeId id) const;
  // Whether the node reads a variable that a node of the graph may change.
  bool ReadsChanging(NodeId id) const;
  // The same as ReadsConstant for any node that reads the variable with that handle.
  DType ConstantOf(const Endpoint& handle) const;

 private:
  void Note(const Node& n);

  const ProcessGraph& process_;
  const Graph& graph_;
  HashMap<NodeId, Endpoint> passed_on_;  // on all outputs
  HashSet<Endpoint> written_;            // variables that a node may change, and other tensors
  HashSet<Endpoint> asked_;              // whether they have a value
  HashMap<Endpoint, DType> dtypes_;
};

}  // namespace tenon::plugin

#endif  // TENON_TF_PLUGIN_VARIABLE_USE_H_
