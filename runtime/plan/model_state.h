// A session's form of a graph. Weights have been moved from the Const nodes into Constants, which
// all plans of the session share and whose plain copies are freed once every reader has a packed
// form. It also has the memory in which runs of those plans work.
#ifndef TENON_RUNTIME_PLAN_MODEL_STATE_H_
#define TENON_RUNTIME_PLAN_MODEL_STATE_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/tensor.h"
#include "kernels/interface/constant.h"
#include "runtime/memory/state_pool.h"
#include "runtime/plan/session_variables.h"

namespace tenon {

class Bodies;  // body.h

class ModelState {
 public:
  // Axis lists, shapes, paddings, per-channel vectors: everything that a shape function or a
  // Prepare reads.
  static constexpr size_t kSmallBytes = 1 << 16;

  // Consumes `graph`: Const nodes lose their "value" attribute. Variable handles become constants
  // that point to the session's variables. Errors name the node.
  static absl::StatusOr<std::shared_ptr<const ModelState>> Create(Graph graph,
                                                                  SessionVariables& variables);
  ~ModelState();

  // The functions that the graph's control flow calls.
  const Bodies& bodies() const { return *bodies_; }

  const Graph& graph() const { return graph_; }
  // Live nodes (needed by outputs or targets), each after the nodes that it needs.
  const std::vector<NodeId>& order() const { return order_; }
  bool is_live(NodeId id) const { return live_[static_cast<size_t>(id)]; }
  // The weight of a Const node, or a variable's handle; null for other nodes.
  Constant* constant(NodeId id) const { return constants_[static_cast<size_t>(id)].get(); }
  // The value of a Const node that is small enough for shape functions and Prepare to read; null
  // for other nodes. It lives as long as the session.
  const Tensor* small_value(NodeId id) const {
    const Tensor& t = small_values_[static_cast<size_t>(id)];
    return t.valid() ? &t : nullptr;
  }
  // The execution states of its plans, and of the functions' plans.
  const std::shared_ptr<StatePool>& states() const { return states_; }
  // Adds the bytes that the constants hold, here and in the functions.
  void AddBytes(int64_t& plain, int64_t& derived) const;

 private:
  static absl::StatusOr<std::shared_ptr<ModelState>> CreateOne(Graph graph,
                                                               SessionVariables& variables);

  std::unique_ptr<Bodies> owned_bodies_;  // of the top graph
  const Bodies* bodies_ = nullptr;        // the same for the top graph and all functions
  Graph graph_;
  std::vector<NodeId> order_;
  std::vector<bool> live_;  // by node
  std::vector<std::unique_ptr<Constant>> constants_;
  std::vector<Tensor> small_values_;
  std::shared_ptr<StatePool> states_;  // the same for the top graph and all functions
};

}  // namespace tenon

#endif  // TENON_RUNTIME_PLAN_MODEL_STATE_H_
