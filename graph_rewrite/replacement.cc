#include "graph_rewrite/replacement.h"

#include <Eigen/Core>
#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "env/status.h"
#include "ops/op.h"

namespace tenon {

// Builds the replacement's nodes. Everything that can fail happens before the first edit.
class Emitter {
 public:
  Emitter(const CompiledPattern& pattern, const Match& match, const Replacement& filled)
      : pattern_(pattern), m_(match), filled_(filled), context_(match.context()) {}

  absl::Status Prepare() {
    const Graph& r = pattern_.replacement;
    TENON_ASSIGN_OR_RETURN(order_, r.TopologicalOrder());
    nodes_.resize(static_cast<size_t>(r.end_id()));
    for (NodeId id : order_) {
      const Node& t = r.node(id);
      if (t.op == "_Capture" || t.op == "Const") continue;
      Node& n = nodes_[static_cast<size_t>(id)];
      n.name = m_.root().name;
      n.op = t.op;
      n.device = m_.root().device;
      TENON_RETURN_IF_ERROR(FillAttrs(t, n));
    }
    return absl::OkStatus();
  }

  void Commit() {
    const Graph& r = pattern_.replacement;
    std::vector<Endpoint> made(nodes_.size());
    for (NodeId id : order_) {
      const Node& t = r.node(id);
      Endpoint& e = made[static_cast<size_t>(id)];
      if (auto c = filled_.consts_.find(t.name); c != filled_.consts_.end()) {
        e = {context_.AddConst(absl::StrCat(m_.root().name, "/", t.name), c->second), 0};
      } else if (t.op == "_Capture") {
        e = m_.at(t.name);
      } else if (t.op == "Const") {
        e = {context_.AddConst(absl::StrCat(m_.root().name, "/constant"),
                               Literal(t.attr<Tensor>("value")->data<float>()[0])),
             0};
      } else {
        Node n = std::move(nodes_[static_cast<size_t>(id)]);
        for (const Endpoint& in : t.inputs) {
          const Endpoint from = made[static_cast<size_t>(in.node)];
          n.inputs.push_back(r.node(in.node).op == "_Capture" ? from
                                                              : Endpoint{from.node, in.port});
        }
        e = {context_.rw.AddNode(std::move(n)), 0};
      }
    }
    // The replacement of the root gets its name; other results are handled first.
    const NodeId root = m_.root().id;
    Endpoint by_root;
    std::vector<NodeId> replaced;
    for (const auto& [name, at] : pattern_.outs) {
      Endpoint by;
      for (const GraphOutput& o : r.outputs()) {
        if (o.name != name) continue;
        const Endpoint from = made[static_cast<size_t>(o.source.node)];
        by = r.node(o.source.node).op == "_Capture" ? from : Endpoint{from.node, o.source.port};
      }
      const Endpoint old = {m_.at(pattern_.nodes[static_cast<size_t>(at.first)].name).node,
                            at.second};
      if (old.node == root) by_root = by;
      if (by != old) context_.rw.ReplaceAllUses(old, by);
      replaced.push_back(old.node);
    }
    if (by_root.node != kNoNode) context_.rw.ReplaceControlUses(root, by_root.node);
    const std::string name = context_.node(root).name;
    for (NodeId id : replaced) context_.RemoveIfDead(id);
    context_.RemoveIfDead(root);
    if (!context_.rw.Has(root) && by_root.node >= first_new_ && by_root.node != kNoNode &&
        context_.graph().FindNode(name) == nullptr) {
      context_.rw.Rename(by_root.node, name);
    }
  }

 private:
  Tensor Literal(float value) const {
    const DType dtype = m_.context().shapes.dtype({m_.root().id, 0});
    if (dtype == DType::kDouble) return Tensor::Scalar<double>(value);
    if (dtype == DType::kHalf) return Tensor::Scalar<half>(half(value));
    if (dtype == DType::kBfloat16) return Tensor::Scalar<bfloat16>(bfloat16(value));
    return Tensor::Scalar<float>(value);
  }

  absl::Status FillAttrs(const Node& t, Node& n) {
    for (const auto& [name, value] : t.attrs) {
      const FuncRef* ref = value.get_if<FuncRef>();
      if (ref == nullptr) {
        n.attrs[name] = value;
        continue;
      }
      const std::pair<std::string, std::string> parts = absl::StrSplit(ref->name, '.');
      const Node& from = m_.node(parts.first);
      auto it = from.attrs.find(parts.second);
      if (it == from.attrs.end()) {
        return absl::FailedPreconditionError(
            absl::StrCat("'", from.name, "' has no attribute ", parts.second));
      }
      n.attrs[name] = it->second;
    }
    if (auto f = filled_.attrs_.find(t.name); f != filled_.attrs_.end()) {
      for (const auto& [name, value] : f->second) n.attrs[name] = value;
    }
    const OpLookup op = FindOp(n.op);
    if (!op) return Unimplemented("op ", n.op, " is not known");
    // Counts and type attributes that follow from the inputs.
    const OpSignature& s = op.info->signature;
    const DType root_dtype = m_.context().shapes.dtype({m_.root().id, 0});
    size_t at = 0;
    for (const ArgSpec& arg : s.inputs) {
      if (!arg.type_attr.empty() && !n.attrs.contains(arg.type_attr) && at < t.inputs.size()) {
        n.attrs[arg.type_attr] = DTypeOf(t.inputs[at], root_dtype);
      }
      int64_t count = 1;
      if (!arg.number_attr.empty()) {
        const int64_t* given = t.attr<int64_t>(arg.number_attr);
        count = given != nullptr ? *given
                                 : static_cast<int64_t>(t.inputs.size()) -
                                       static_cast<int64_t>(s.inputs.size()) + 1;
        n.attrs[arg.number_attr] = count;
      }
      at += static_cast<size_t>(std::max<int64_t>(count, 0));
    }
    for (const AttrSpec& attr : s.attrs) {
      if (attr.kind == "type" && !attr.has_default && !n.attrs.contains(attr.name)) {
        n.attrs[attr.name] = root_dtype;
      }
    }
    return CompleteAttrs(*op.info, n);
  }

  DType DTypeOf(Endpoint e, DType fallback) const {
    const Node& t = pattern_.replacement.node(e.node);
    if (auto c = filled_.consts_.find(t.name); c != filled_.consts_.end()) return c->second.dtype();
    if (t.op != "_Capture") return fallback;
    const DType dtype = m_.dtype(t.name);
    return dtype == DType::kInvalid ? fallback : dtype;
  }

  const CompiledPattern& pattern_;
  const Match& m_;
  const Replacement& filled_;
  RuleContext& context_;
  const NodeId first_new_ = context_.graph().end_id();
  std::vector<NodeId> order_;
  std::vector<Node> nodes_;
};

absl::Status ReplaceMatch(const CompiledPattern& pattern, const Match& match,
                          const Replacement& replacement) {
  Emitter emitter(pattern, match, replacement);
  TENON_RETURN_IF_ERROR(emitter.Prepare());
  emitter.Commit();
  return absl::OkStatus();
}

}  // namespace tenon
