#include "graph_rewrite/match.h"

#include <algorithm>
#include <cassert>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "graph/text.h"
#include "graph_rewrite/elements.h"
#include "ops/op.h"

namespace tenon {

namespace {
constexpr int kMaxTries = 100000;  // per pattern and node; commutative ops branch
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

std::vector<NodeId> Match::MatchedOps() const {
  std::vector<NodeId> out;
  for (size_t i = 0; i < bound_.size(); ++i) {
    if (pattern_.nodes[i].kind != CompiledPattern::PNode::kOp) continue;
    if (bound_[i].node != kNoNode) out.push_back(bound_[i].node);
  }
  return out;
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

  // Matches goals[at], then the rest, which it may extend; undoes its bindings on failure.
  bool Solve(std::vector<Goal>& goals, size_t at) {
    if (++tries_ > kMaxTries)
      return Fail(ReasonKind::kCondition, kNoNode, "too many ways to match");
    if (at == goals.size()) return CheckReaders();
    const Goal goal = goals[at];
    const PNode& p = m_.pattern_.nodes[static_cast<size_t>(goal.pattern)];
    Endpoint& bound = m_.bound_[static_cast<size_t>(goal.pattern)];
    const Node& n = m_.context_.node(goal.actual);

    if (p.kind == PNode::kCapture) {
      // Captures bind an endpoint, including the port.
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
      Fail(ReasonKind::kOp, n.id, [&] { return absl::StrCat("has ", n.inputs.size(), " inputs"); });
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
        return Fail(ReasonKind::kOperand, n.id, "reads another port");
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
      if (t == nullptr) return Fail(ReasonKind::kConstant, n.id, "is not constant");
      // Rank 0 only, because a higher rank could broadcast the other operand. ScalarConstants makes
      // a constant a scalar if it does not.
      if (p.kind == PNode::kLiteral && (t->shape().rank() != 0 || !IsFilledWith(*t, p.literal))) {
        return Fail(ReasonKind::kValue, n.id, [&] { return absl::StrCat("is not ", p.literal); });
      }
      return true;
    }
    if (std::find(p.ops.begin(), p.ops.end(), n.op) == p.ops.end()) {
      return Fail(ReasonKind::kOp, n.id, [&] {
        return absl::StrCat("is ", n.op, ", not ", absl::StrJoin(p.ops, " or "));
      });
    }
    for (const auto& [name, value] : p.attrs) {
      auto it = n.attrs.find(name);
      if (it == n.attrs.end() || it->second != value) {
        return Fail(ReasonKind::kAttribute, n.id, [&, name = name, value = value] {
          return absl::StrCat(name, " is ",
                              it == n.attrs.end() ? "not given" : PrintAttr(it->second), ", not ",
                              PrintAttr(value));
        });
      }
    }
    if (!m_.context_.IsCandidate(n.id))
      return Fail(ReasonKind::kControlIn, n.id, "has control inputs");
    return true;
  }

  // The last check: removed nodes must have no readers outside the match.
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
      if (m_.context_.rw.IsKept(id)) {
        return Block(m_.context_.BlockOf(id), id, [] { return "is an output of the graph"; });
      }
      for (const Use& u : m_.context_.rw.uses(id)) {
        if (u.is_control()) {
          return Block(ReasonKind::kControlOut, id, [] { return "has a control edge out"; });
        }
        if (!in_match(u.reader)) {
          return Block(ReasonKind::kReader, id, [&] {
            return absl::StrCat("has another reader, '", m_.context_.node(u.reader).name, "'");
          });
        }
      }
    }
    return true;
  }

  bool Differ(const PNode& p, const Node& n) {
    return Fail(ReasonKind::kOperand, n.id,
                [&] { return absl::StrCat("is not the same tensor as %", p.name); });
  }
  // A safety check that failed: the whole pattern matched up to there.
  template <typename Reason>
  bool Block(ReasonKind kind, NodeId blame, Reason reason) {
    m_.context_.NoteBlock(kind, blame);
    return Fail(kind, blame, reason);
  }
  bool Fail(ReasonKind kind, NodeId blame, const char* reason) {
    return Fail(kind, blame, [&] { return std::string(reason); });
  }
  template <typename Reason>
  bool Fail(ReasonKind kind, NodeId blame, Reason reason) {
    // A failed safety check counts as progress.
    const int progress = matched_ + (kind < ReasonKind::kOp);
    if (m_.context_.explaining && matched_ > 0 && progress > best_.progress) {
      best_.progress = progress;
      best_.blame = blame;
      best_.kind = kind;
      best_.matched = m_.MatchedOps();
      best_.reason = blame == kNoNode ? std::string(reason())
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

bool FindMatch(Match& match, NodeId root, Outcome& best) { return Matcher(match, best).Run(root); }

}  // namespace tenon
