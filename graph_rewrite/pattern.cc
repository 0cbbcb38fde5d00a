#include "graph_rewrite/pattern.h"

#include <Eigen/Core>
#include <algorithm>
#include <cassert>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "env/status.h"
#include "graph/text.h"
#include "graph_rewrite/rule.h"
#include "ops/op.h"

namespace tenon {

namespace {
constexpr int kMaxTries = 100000;  // of one pattern at one node: commutative ops branch
}

double FloatElement(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case DType::kFloat:
      return t.data<float>()[i];
    case DType::kDouble:
      return t.data<double>()[i];
    case DType::kHalf:
      return static_cast<float>(t.data<half>()[i]);
    case DType::kBfloat16:
      return static_cast<float>(t.data<bfloat16>()[i]);
    default:
      return std::nan("");
  }
}

void SetFloatElement(Tensor& t, int64_t i, double value) {
  const float f = static_cast<float>(value);
  switch (t.dtype()) {
    case DType::kFloat:
      t.data<float>()[i] = f;
      break;
    case DType::kDouble:
      t.data<double>()[i] = value;
      break;
    case DType::kHalf:
      t.data<half>()[i] = half(f);
      break;
    case DType::kBfloat16:
      t.data<bfloat16>()[i] = bfloat16(f);
      break;
    default:
      break;
  }
}

bool IsFilledWith(const Tensor& t, double value) {
  if (!IsFloating(t.dtype()) || t.num_elements() == 0) return false;
  double want = value;
  if (t.dtype() == DType::kHalf) want = static_cast<float>(half(static_cast<float>(value)));
  if (t.dtype() == DType::kBfloat16) want = static_cast<float>(bfloat16(static_cast<float>(value)));
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    if (!(std::abs(FloatElement(t, i) - want) <= 1e-6 * std::abs(want))) return false;
  }
  return true;
}

namespace {

absl::StatusOr<CompiledPattern> CompilePattern(const Rule& rule, absl::string_view text,
                                               const Graph& replacement) {
  CompiledPattern out;
  TENON_ASSIGN_OR_RETURN(const Graph g, ParseGraph(text, {.pattern = true}));
  int last_op = -1;
  for (NodeId id : g.NodeIds()) {
    const Node& n = g.node(id);
    CompiledPattern::PNode p;
    p.name = n.name;
    for (const Endpoint& e : n.inputs) p.inputs.emplace_back(e.node, e.port);
    if (n.op == "_Capture") {
      p.kind = CompiledPattern::PNode::kCapture;
    } else if (n.op == "Const") {
      const Tensor* literal = n.attr<Tensor>("value");
      p.kind =
          literal == nullptr ? CompiledPattern::PNode::kConst : CompiledPattern::PNode::kLiteral;
      if (literal != nullptr) p.literal = literal->data<float>()[0];
    } else {
      p.kind = CompiledPattern::PNode::kOp;
      p.ops = absl::StrSplit(n.op, '|');
      p.attrs = n.attrs;
      ++out.size;
      last_op = id;
    }
    out.nodes.push_back(std::move(p));
  }
  if (last_op < 0) return InvalidArgument("a pattern needs an op");
  for (const GraphOutput& o : g.outputs()) {
    out.outs.emplace_back(o.name, std::make_pair(o.source.node, o.source.port));
    out.nodes[static_cast<size_t>(o.source.node)].shared = true;
  }
  // The node that no other reads: the match starts there. (Others may be outputs, and are read.)
  std::vector<bool> read(out.nodes.size(), false);
  for (const auto& p : out.nodes) {
    for (const auto& [node, port] : p.inputs) read[static_cast<size_t>(node)] = true;
  }
  for (size_t i = 0; i < read.size(); ++i) {
    if (read[i]) continue;
    if (out.root >= 0) return InvalidArgument("two nodes of the pattern are read by no other");
    out.root = static_cast<int>(i);
  }
  if (out.root < 0) return InvalidArgument("the pattern has a cycle");
  if (out.root != last_op) return InvalidArgument("the result must be the last op of the pattern");
  if (out.outs.empty()) out.outs.emplace_back("", std::make_pair(out.root, 0));
  out.nodes[static_cast<size_t>(out.root)].shared = true;

  out.replacement = replacement;
  if (out.replacement.outputs().empty()) {
    if (out.outs.size() != 1) return InvalidArgument("the replacement lacks out lines");
    NodeId last = kNoNode;
    for (NodeId id : out.replacement.NodeIds()) {
      const std::string& op = out.replacement.node(id).op;
      if (op != "_Capture" && op != "Const") last = id;
    }
    if (last == kNoNode) return InvalidArgument("the replacement has no node");
    out.replacement.AddOutput({out.outs[0].first, {last, 0}});
  }
  for (const auto& [name, at] : out.outs) {
    const auto& outputs = out.replacement.outputs();
    if (std::none_of(outputs.begin(), outputs.end(),
                     [&, n = name](const GraphOutput& o) { return o.name == n; })) {
      return InvalidArgument("the replacement lacks 'out ", name, "'");
    }
  }
  // What the replacement reads must be something that the pattern knows, or a fold hook's constant.
  for (NodeId id : out.replacement.NodeIds()) {
    const Node& n = out.replacement.node(id);
    if (n.op != "_Capture" || rule.fold != nullptr) continue;
    if (std::none_of(out.nodes.begin(), out.nodes.end(),
                     [&](const auto& p) { return p.name == n.name; })) {
      return InvalidArgument("%", n.name, " stands in the replacement only");
    }
  }
  for (absl::string_view word : absl::StrSplit(rule.dtypes, ' ', absl::SkipEmpty())) {
    const auto dtype = DTypeFromName(word);
    if (!dtype) return InvalidArgument("'", word, "' is no dtype");
    out.dtypes.push_back(*dtype);
  }
  return out;
}

}  // namespace

absl::StatusOr<std::vector<CompiledPattern>> CompilePatterns(const Rule& rule) {
  if (rule.replacement == nullptr) return InvalidArgument("no replacement");
  TENON_ASSIGN_OR_RETURN(const Graph replacement, ParseGraph(rule.replacement, {.pattern = true}));
  std::vector<CompiledPattern> alternatives;
  for (absl::string_view text : absl::StrSplit(rule.pattern, "||")) {
    TENON_ASSIGN_OR_RETURN(CompiledPattern compiled, CompilePattern(rule, text, replacement));
    alternatives.push_back(std::move(compiled));
  }
  return alternatives;
}

bool Match::has(absl::string_view name) const {
  return std::any_of(pattern_.nodes.begin(), pattern_.nodes.end(),
                     [&](const auto& p) { return p.name == name; });
}

Endpoint Match::at(absl::string_view name) const {
  for (size_t i = 0; i < pattern_.nodes.size(); ++i) {
    if (pattern_.nodes[i].name == name) return bound_[i];
  }
  assert(false && "the rule names a node that its pattern does not have");
  return bound_[static_cast<size_t>(pattern_.root)];
}

class Matcher {
 public:
  Matcher(Match& match, Outcome& best) : m_(match), best_(best) {}

  bool Run(NodeId root) {
    std::vector<Goal> goals = {{m_.pattern_.root, {root, 0}}};
    return Solve(goals, 0);
  }

 private:
  using PNode = CompiledPattern::PNode;
  struct Goal {
    int pattern;
    Endpoint actual;
  };

  // Meets goals[at], then the rest, which it may extend; undoes what it bound if that fails.
  bool Solve(std::vector<Goal>& goals, size_t at) {
    if (++tries_ > kMaxTries) return Fail(0, kNoNode, "too many ways to match");
    if (at == goals.size()) return CheckReaders();
    const Goal goal = goals[at];
    const PNode& p = m_.pattern_.nodes[static_cast<size_t>(goal.pattern)];
    Endpoint& bound = m_.bound_[static_cast<size_t>(goal.pattern)];
    const Node& n = m_.context_.node(goal.actual);

    if (p.kind == PNode::kCapture) {
      // Captures bind an endpoint, port and all.
      if (bound.node != kNoNode) {
        if (bound != goal.actual) return Differ(p, n);
        return Solve(goals, at + 1);
      }
      bound = goal.actual;
      if (Solve(goals, at + 1)) return true;
      bound = Endpoint();
      return false;
    }
    if (bound.node != kNoNode) {
      if (bound.node != goal.actual.node) return Differ(p, n);
      return Solve(goals, at + 1);
    }
    if (!CheckNode(p, goal.actual, n)) return false;
    bound = {goal.actual.node, 0};
    matched_ += p.kind == PNode::kOp;

    bool ok = false;
    if (p.inputs.empty()) {
      ok = Solve(goals, at + 1);
    } else if (n.inputs.size() != p.inputs.size()) {
      Fail(0, n.id, [&] { return absl::StrCat("has ", n.inputs.size(), " inputs"); });
    } else {
      ok = SolveOperands(goals, at, p, n, false);
      const OpLookup op = p.inputs.size() == 2 ? FindOp(n.op) : OpLookup();
      if (!ok && op && op.info->row.commutative) ok = SolveOperands(goals, at, p, n, true);
    }
    if (!ok) {
      bound = Endpoint();
      matched_ -= p.kind == PNode::kOp;
    }
    return ok;
  }

  bool SolveOperands(std::vector<Goal>& goals, size_t at, const PNode& p, const Node& n,
                     bool swapped) {
    const size_t size = goals.size();
    for (size_t i = 0; i < p.inputs.size(); ++i) {
      const Endpoint e = n.inputs[swapped ? p.inputs.size() - 1 - i : i];
      const auto [index, port] = p.inputs[i];
      const PNode& want = m_.pattern_.nodes[static_cast<size_t>(index)];
      if (want.kind != PNode::kCapture && e.port != port) {
        goals.resize(size);
        return Fail(0, n.id, "reads another port");
      }
      goals.push_back({index, e});
    }
    const bool ok = Solve(goals, at + 1);
    goals.resize(size);
    return ok;
  }

  bool CheckNode(const PNode& p, Endpoint e, const Node& n) {
    if (p.kind == PNode::kConst || p.kind == PNode::kLiteral) {
      const Tensor* t = m_.context_.Constant(e);
      if (t == nullptr)
        return Fail(0, n.id, [&] { return absl::StrCat("is not constant (", n.op, ")"); });
      // Of rank 0: one of higher rank could broaden what it meets. ScalarConstants makes it a
      // scalar where it does not.
      if (p.kind == PNode::kLiteral && (t->shape().rank() != 0 || !IsFilledWith(*t, p.literal))) {
        return Fail(0, n.id, [&] { return absl::StrCat("is not ", p.literal); });
      }
      return true;
    }
    if (std::find(p.ops.begin(), p.ops.end(), n.op) == p.ops.end()) {
      return Fail(0, n.id, [&] {
        return absl::StrCat("is ", n.op, ", not ", absl::StrJoin(p.ops, " or "));
      });
    }
    for (const auto& [name, value] : p.attrs) {
      auto it = n.attrs.find(name);
      if (it == n.attrs.end() || it->second != value) {
        return Fail(0, n.id, [&, name = name, value = value] {
          return absl::StrCat(name, " is ",
                              it == n.attrs.end() ? "not given" : PrintAttr(it->second), ", not ",
                              PrintAttr(value));
        });
      }
    }
    if (!n.control_inputs.empty()) return Fail(1, n.id, "has control inputs");
    return true;
  }

  // The last check: nodes that vanish must have no readers outside of the match.
  bool CheckReaders() {
    const auto& nodes = m_.pattern_.nodes;
    auto in_match = [&](NodeId id) {
      for (size_t i = 0; i < nodes.size(); ++i) {
        if (nodes[i].kind == PNode::kOp && m_.bound_[i].node == id) return true;
      }
      return false;
    };
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].kind != PNode::kOp || nodes[i].shared) continue;
      const NodeId id = m_.bound_[i].node;
      if (m_.context_.rw.IsKept(id)) return Fail(1, id, "is an output of the graph");
      for (const Use& u : m_.context_.rw.uses(id)) {
        if (u.is_control()) return Fail(1, id, "has a control edge out");
        if (!in_match(u.reader)) {
          return Fail(1, id, [&] {
            return absl::StrCat("has another reader, '", m_.context_.node(u.reader).name, "'");
          });
        }
      }
    }
    return true;
  }

  bool Differ(const PNode& p, const Node& n) {
    return Fail(0, n.id, [&] { return absl::StrCat("is not the same tensor as %", p.name); });
  }
  bool Fail(int extra, NodeId blame, const char* reason) {
    return Fail(extra, blame, [&] { return std::string(reason); });
  }
  template <typename Reason>
  bool Fail(int extra, NodeId blame, Reason reason) {
    if (m_.context_.explaining && matched_ > 0 && matched_ + extra > best_.progress) {
      best_.progress = matched_ + extra;
      best_.blame = blame;
      best_.reason = blame == kNoNode ? reason()
                                      : absl::StrCat("'", m_.context_.node(blame).name, "' (",
                                                     m_.context_.node(blame).op, ") ", reason());
    }
    return false;
  }

  Match& m_;
  Outcome& best_;
  int matched_ = 0;
  int tries_ = 0;
};

// Builds the replacement's nodes. All that can fail is done before the first edit.
class Emitter {
 public:
  Emitter(const CompiledPattern& pattern, const Match& match, Replacement& filled)
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
    // The root's name goes to what takes its place; other results first.
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
      context_.rw.ReplaceAllUses(old, by);
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
    // Counts and type attributes that the inputs decide.
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
  Replacement& filled_;
  RuleContext& context_;
  const NodeId first_new_ = context_.graph().end_id();
  std::vector<NodeId> order_;
  std::vector<Node> nodes_;
};

Outcome TryPattern(const Rule& rule, const CompiledPattern& pattern, RuleContext& context,
                   NodeId root) {
  Match match(context, pattern);
  Outcome outcome;
  if (!Matcher(match, outcome).Run(root)) return outcome;
  auto skip = [&](std::string reason) {
    return Outcome::Skip(pattern.size + 2, std::move(reason), root);
  };
  if (!pattern.dtypes.empty()) {
    const DType dtype = context.shapes.dtype({root, 0});
    if (std::find(pattern.dtypes.begin(), pattern.dtypes.end(), dtype) == pattern.dtypes.end()) {
      return skip(absl::StrCat("not for ", Name(dtype)));
    }
  }
  if (rule.when != nullptr) {
    if (absl::Status s = rule.when(match); !s.ok()) return skip(std::string(s.message()));
  }
  Replacement filled;
  if (rule.fold != nullptr) {
    if (absl::Status s = rule.fold(match, filled); !s.ok()) return skip(std::string(s.message()));
  }
  // With several results a cycle could come about: an input that depends on one of them.
  if (pattern.outs.size() > 1) {
    for (size_t i = 0; i < pattern.nodes.size(); ++i) {
      const auto& p = pattern.nodes[i];
      if (p.kind != CompiledPattern::PNode::kCapture) continue;
      const Endpoint captured = match.at(p.name);
      for (const auto& [name, at] : pattern.outs) {
        const Endpoint out = match.at(pattern.nodes[static_cast<size_t>(at.first)].name);
        if (context.rw.DependsOn(captured.node, out.node)) {
          return skip(absl::StrCat("%", p.name, " depends on a result"));
        }
      }
    }
  }
  Emitter emitter(pattern, match, filled);
  if (absl::Status s = emitter.Prepare(); !s.ok()) return skip(std::string(s.message()));
  emitter.Commit();
  return Outcome::Fired();
}

}  // namespace tenon
