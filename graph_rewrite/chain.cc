#include "graph_rewrite/chain.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "env/containers.h"
#include "graph_rewrite/contraction.h"
#include "graph_rewrite/rule.h"
#include "kernels/elementwise/elementwise.h"
#include "ops/op.h"

namespace tenon {
namespace {

// What one op of the chain contributes to the fused op.
struct Link {
  std::string name;                // in fused_ops
  Endpoint arg;                    // of a binary op
  std::optional<Shape> arg_shape;  // the constant argument, reshaped
  std::string parameter;           // the contraction's attribute for it; empty: none
  float value = 0;                 // of the parameter; a chain has only one
};

// The activation that the node applies to its only input, or null.
const ElementwiseInfo* UnaryPostOp(const Node& n) {
  const OpLookup op = FindOp(n.op);
  const ElementwiseInfo* info = op ? FindFusedOp(op.info->row.name) : nullptr;
  return info != nullptr && info->arity() == 1 ? info : nullptr;
}

// The longest path from the graph's inputs.
int Depth(const Graph& g, NodeId id, HashMap<NodeId, int>& known) {
  std::vector<NodeId> todo = {id};
  while (!todo.empty()) {
    const NodeId n = todo.back();
    if (known.contains(n)) {
      todo.pop_back();
      continue;
    }
    int depth = 0;
    bool ready = true;
    for (const Endpoint& e : g.node(n).inputs) {
      auto it = known.find(e.node);
      if (it == known.end()) {
        todo.push_back(e.node);
        ready = false;
      } else {
        depth = std::max(depth, it->second + 1);
      }
    }
    if (!ready) continue;
    known[n] = depth;
    todo.pop_back();
  }
  return known[id];
}

// The contraction whose chain would end in `e`, if each link has one reader.
NodeId ContractionBehind(RuleContext& context, Endpoint e) {
  for (int steps = 0; steps < 64; ++steps) {
    if (e.port != 0 || context.OnlyReader(e.node) == kNoNode) return kNoNode;
    const Node& n = context.node(e);
    if (!context.IsCandidate(n.id)) return kNoNode;
    if (IsContraction(n.op)) return n.id;
    if (n.op == "BiasAdd" || UnaryPostOp(n) != nullptr) {
      e = n.inputs[0];
    } else if ((n.op == "AddV2" || n.op == "Add") && context.Constant(n.inputs[1]) != nullptr) {
      e = n.inputs[0];
    } else {
      return kNoNode;
    }
  }
  return kNoNode;
}

class ChainMatcher {
 public:
  ChainMatcher(RuleContext& context, NodeId contraction)
      : context_(context), start_(contraction), last_(contraction) {}

  // Goes as far as it can; `stop` tells why no farther.
  void Walk() {
    while (links_.size() < 16) {
      std::string why;
      const NodeId next = context_.OnlyReader(last_, context_.explaining ? &why : nullptr);
      if (next == kNoNode) {
        stop_ = std::move(why);
        near_ = false;  // blocks tell whether another reader would have been a link
        blame_ = last_;
        return;
      }
      std::optional<Link> link;
      if (context_.IsCandidate(next, context_.explaining ? &stop_ : nullptr)) {
        link = LinkFor(context_.node(next));
      }
      if (!link) {
        blame_ = next;
        return;
      }
      links_.push_back(*std::move(link));
      nodes_.push_back(next);
      last_ = next;
    }
  }

  const std::vector<Link>& links() const { return links_; }
  const std::vector<NodeId>& nodes() const { return nodes_; }
  const std::string& stop() const { return stop_; }
  NodeId blame() const { return blame_; }
  NodeId last() const { return last_; }
  // Whether it stopped at an op that often is a link.
  bool near() const { return near_; }

 private:
  std::optional<Link> LinkFor(const Node& n) {
    const int slot = n.inputs[0] == Endpoint{last_, 0} ? 0 : 1;
    if (n.op == "BiasAdd") return slot == 0 ? Bias(n) : Stop(n, "adds it as a bias");
    // op names: the binary post-ops, whose names in fused_ops Binary tells.
    if (n.op == "AddV2" || n.op == "Add" || n.op == "Mul") return Binary(n, slot);
    const ElementwiseInfo* info = UnaryPostOp(n);
    if (info == nullptr) {
      near_ = false;
      return Stop(n, "cannot be applied to a contraction's result before it is stored");
    }
    Link link;
    link.name = info->name;
    if (info->post_op->parameter != nullptr) {
      link.parameter = info->post_op->parameter;
      const float* value = n.attr<float>(info->parameter);
      link.value = value == nullptr ? info->default_parameter : *value;
      if (HasAnotherValue(link)) return Stop(n, "has another slope");
    }
    return link;
  }

  // The chain already has another value for the link's parameter.
  bool HasAnotherValue(const Link& link) const {
    for (const Link& other : links_) {
      if (other.parameter == link.parameter && other.value != link.value) return true;
    }
    const Node& c = context_.node(start_);
    const auto* earlier = c.attr<std::vector<std::string>>("fused_ops");
    const float* given = c.attr<float>(link.parameter);
    return earlier != nullptr && given != nullptr && *given != link.value &&
           std::find(earlier->begin(), earlier->end(), link.name) != earlier->end();
  }

  std::optional<Link> Bias(const Node& n) {
    const int rank = context_.shapes.rank({start_, 0});
    const int axis = ChannelAxis(context_, start_);
    const std::string* format = n.attr<std::string>("data_format");
    const bool channels_first = format != nullptr && format->substr(0, 2) == "NC";
    if (axis < 0) return Stop(n, "adds to a result of unknown rank");
    if (axis != (channels_first ? 1 : rank - 1)) return Stop(n, "has a different data_format");
    Link link;
    link.name = "BiasAdd";
    link.arg = n.inputs[1];
    return link;
  }

  std::optional<Link> Binary(const Node& n, int slot) {
    const Endpoint other = n.inputs[static_cast<size_t>(1 - slot)];
    const Shape& out = context_.shapes.shape({start_, 0});
    Link link;
    link.name = n.op == "Mul" ? "Mul" : "Add";
    link.arg = other;
    if (other == Endpoint{last_, 0}) return Stop(n, "takes it twice");
    if (const Tensor* c = context_.Constant(other)) {
      if (!BroadcastsInto(c->shape(), out)) {
        return Stop(n, [&] {
          return absl::StrCat("takes a constant of shape ", c->shape().ToString(),
                              ", which may broaden the result of shape ", out.ToString());
        });
      }
      const int axis = ChannelAxis(context_, start_);
      if (link.name == "Add" && axis >= 0 && c->num_elements() == out.dim(axis) &&
          PerAxis(c->shape(), out.rank(), axis) == c->num_elements()) {
        link.name = "BiasAdd";
        link.arg_shape = Shape({c->num_elements()});
      }
      return link;
    }
    if (!context_.shapes.BroadcastsTo(other, {start_, 0})) {
      return Stop(n, [&] {
        return absl::StrCat("takes a tensor of shape ", context_.shapes.shape(other).ToString(),
                            ", which may broaden the result of shape ", out.ToString());
      });
    }
    // If both operands are contractions, the later one absorbs the sum.
    const NodeId rival = ContractionBehind(context_, other);
    if (rival != kNoNode) {
      HashMap<NodeId, int> known;
      const int mine = Depth(context_.graph(), start_, known);
      const int theirs = Depth(context_.graph(), rival, known);
      if (std::tie(theirs, rival) > std::tie(mine, start_)) {
        near_ = false;
        return Stop(n, [&] {
          return absl::StrCat("goes to '", context_.node(rival).name, "', which is computed later");
        });
      }
    }
    return link;
  }

  std::nullopt_t Stop(const Node& n, const char* reason) {
    return Stop(n, [&] { return std::string(reason); });
  }
  template <typename Reason>
  std::nullopt_t Stop(const Node& n, Reason reason) {
    if (context_.explaining) stop_ = absl::StrCat("'", n.name, "' (", n.op, ") ", reason());
    return std::nullopt;
  }

  RuleContext& context_;
  const NodeId start_;
  NodeId last_;
  std::vector<Link> links_;
  std::vector<NodeId> nodes_;
  std::string stop_;
  bool near_ = true;
  NodeId blame_ = kNoNode;
};

// The fused node, not yet in the graph.
absl::StatusOr<Node> MakeFused(const Rule& rule, const Node& c, const std::vector<Link>& links) {
  const OpLookup op = FindOp(rule.fused);
  if (!op) return absl::UnimplementedError(absl::StrCat("op ", rule.fused, " is not known"));
  Node n;
  n.name = c.name;
  n.op = rule.fused;
  n.device = c.device;
  n.inputs = c.inputs;
  std::vector<std::string> fused_ops;
  for (const AttrSpec& spec : op.info->signature.attrs) {
    auto it = c.attrs.find(spec.name);
    if (it != c.attrs.end()) n.attrs.insert(*it);
  }
  if (const auto* earlier = c.attr<std::vector<std::string>>("fused_ops")) fused_ops = *earlier;
  const int64_t* args = c.attr<int64_t>("num_args");
  int64_t num_args = args == nullptr ? 0 : *args;
  for (const Link& link : links) {
    fused_ops.push_back(link.name);
    num_args += link.arg.node != kNoNode;
    if (!link.parameter.empty()) n.attrs[link.parameter] = link.value;
  }
  n.attrs["fused_ops"] = std::move(fused_ops);
  n.attrs["num_args"] = num_args;
  if (absl::Status s = CompleteAttrs(*op.info, n); !s.ok()) return s;
  return n;
}

}  // namespace

Outcome TryChain(const Rule& rule, RuleContext& context, NodeId id) {
  const Node& c = context.node(id);
  ChainMatcher chain(context, id);
  chain.Walk();
  if (chain.links().empty()) {
    return Outcome::Skip(chain.near() ? 2 : 1, chain.stop(), chain.blame());
  }
  absl::StatusOr<Node> fused = MakeFused(rule, c, chain.links());
  if (!fused.ok()) {
    return Outcome::Skip(2, std::string(fused.status().message()), id);
  }
  for (const Link& link : chain.links()) {
    if (link.arg.node == kNoNode) continue;
    Endpoint arg = link.arg;
    if (link.arg_shape) {
      const Tensor& t = *context.Constant(arg);
      if (t.shape() != *link.arg_shape) {
        auto reshaped = t.Reshaped(*link.arg_shape);
        if (!reshaped.ok()) return Outcome::Skip(2, std::string(reshaped.status().message()), id);
        arg = {context.AddConst(context.node(arg).name, *std::move(reshaped)), 0};
      }
    }
    fused->inputs.push_back(arg);
  }
  const NodeId last = chain.last();
  const NodeId made = context.rw.AddNode(*std::move(fused));
  context.rw.ReplaceAllUses({last, 0}, {made, 0});
  context.rw.ReplaceControlUses(last, made);
  const std::string name = context.node(last).name;
  context.RemoveIfDead(last);
  if (context.graph().FindNode(name) == nullptr) context.rw.Rename(made, name);
  return Outcome::Fired();
}

}  // namespace tenon
