#include "graph_rewrite/comparator.h"

#include <tuple>
#include <utility>

#include "env/containers.h"
#include "env/status.h"
#include "graph_rewrite/context.h"
#include "ops/op.h"

namespace tenon {
namespace {

// Larger functions are no comparators, and would take the recursion below too deep.
constexpr size_t kMostNodes = 1000;

// op names: what comparators consist of; no fact of the op table tells an order from other ops.
class Reader {
 public:
  explicit Reader(const Graph& graph) : graph_(graph) {
    for (size_t i = 0; i < graph.inputs().size(); ++i) {
      arguments_[graph.inputs()[i].node] = static_cast<int>(i);
    }
  }

  absl::StatusOr<std::vector<SortKey>> Keys() {
    std::vector<SortKey> keys;
    Endpoint at = graph_.outputs()[0].source;
    while (true) {
      const Node& n = graph_.node(at.node);
      if (n.op != "LogicalOr" || n.inputs.size() != 2) {
        TENON_ASSIGN_OR_RETURN(const SortKey key, Comparison(at));
        keys.push_back(key);
        return keys;
      }
      // x < y, or x = y and the rest.
      Endpoint less = n.inputs[0], rest = n.inputs[1];
      if (graph_.node(less.node).op == "LogicalAnd") std::swap(less, rest);
      TENON_ASSIGN_OR_RETURN(const SortKey key, Comparison(less));
      TENON_ASSIGN_OR_RETURN(at, AmongEqual(key, rest));
      keys.push_back(key);
    }
  }

 private:
  absl::StatusOr<SortKey> Comparison(Endpoint e) {
    const Node& n = graph_.node(e.node);
    if ((n.op != "Less" && n.op != "Greater") || n.inputs.size() != 2) {
      return WhyNot("the comparator is no order of keys");
    }
    const DType* dtype = n.attr<DType>("T");
    if (dtype == nullptr || !IsInteger(*dtype)) return WhyNot("a key is no integer");
    const bool greater = n.op == "Greater";
    if (MirrorEachOther(n.inputs[0], n.inputs[1])) return SortKey{n.inputs[0], greater};
    if (MirrorEachOther(n.inputs[1], n.inputs[0])) return SortKey{n.inputs[1], !greater};
    return WhyNot("the comparator treats its two elements differently");
  }

  // `e` is: the keys are equal, and something else, which is returned.
  absl::StatusOr<Endpoint> AmongEqual(const SortKey& key, Endpoint e) {
    const Node& n = graph_.node(e.node);
    if (n.op != "LogicalAnd" || n.inputs.size() != 2) {
      return WhyNot("the comparator is no order of keys");
    }
    for (int side = 0; side < 2; ++side) {
      const Node& equal = graph_.node(n.inputs[static_cast<size_t>(side)].node);
      if (equal.op != "Equal" || equal.inputs.size() != 2) continue;
      Endpoint first = equal.inputs[0], second = equal.inputs[1];
      if (!Same(key.value, first)) std::swap(first, second);
      if (Same(key.value, first) && MirrorEachOther(first, second)) {
        return n.inputs[static_cast<size_t>(1 - side)];
      }
    }
    return WhyNot("the comparator does not ask whether a key is equal");
  }

  // What a node must be like for its element to depend only on elements at the same place.
  static bool IsElementwise(const Node& n) {
    if (n.op == "Const" || n.op == "Identity") return true;
    if (n.op == "Bitcast") {
      const DType *from = n.attr<DType>("T"), *to = n.attr<DType>("type");
      return from != nullptr && to != nullptr && SizeOf(*from) == SizeOf(*to);
    }
    const OpLookup op = FindOp(n.op);
    return op && op.info->row.elementwise && !op.info->row.stateful && n.control_inputs.empty();
  }

  // Whether `b` computes from second elements what `a` computes from first ones; `shift` is 1. With
  // a shift of 0: whether both compute the same.
  bool Alike(Endpoint a, Endpoint b, int shift) {
    if (a.port != b.port) return false;
    const auto argument = arguments_.find(a.node);
    if (argument != arguments_.end()) {
      const auto other = arguments_.find(b.node);
      return other != arguments_.end() && argument->second % 2 == 0 &&
             other->second == argument->second + shift;
    }
    const auto known = alike_.find({a.node, b.node, shift});
    if (known != alike_.end()) return known->second;
    const Node &x = graph_.node(a.node), &y = graph_.node(b.node);
    bool alike = x.op == y.op && IsElementwise(x) && x.attrs == y.attrs &&
                 x.inputs.size() == y.inputs.size();
    for (size_t i = 0; alike && i < x.inputs.size(); ++i) {
      alike = Alike(x.inputs[i], y.inputs[i], shift);
    }
    alike_[{a.node, b.node, shift}] = alike;
    return alike;
  }
  bool Same(Endpoint a, Endpoint b) { return Alike(a, b, 0); }
  bool MirrorEachOther(Endpoint a, Endpoint b) { return ReadsAnArgument(a) && Alike(a, b, 1); }

  bool ReadsAnArgument(Endpoint e) {
    std::vector<NodeId> todo = {e.node};
    HashSet<NodeId> seen;
    while (!todo.empty()) {
      const NodeId id = todo.back();
      todo.pop_back();
      if (arguments_.contains(id)) return true;
      if (!seen.insert(id).second) continue;
      for (const Endpoint& input : graph_.node(id).inputs) todo.push_back(input.node);
    }
    return false;
  }

  const Graph& graph_;
  HashMap<NodeId, int> arguments_;
  HashMap<std::tuple<NodeId, NodeId, int>, bool> alike_;
};

}  // namespace

absl::StatusOr<std::vector<SortKey>> SortKeysOf(const Graph& comparator) {
  if (comparator.num_nodes() > kMostNodes || comparator.outputs().size() != 1 ||
      !comparator.targets().empty() || !comparator.TopologicalOrder().ok()) {
    return WhyNot("the comparator does more than compare");
  }
  return Reader(comparator).Keys();
}

}  // namespace tenon
