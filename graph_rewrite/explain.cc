#include "graph_rewrite/explain.h"

#include <algorithm>

#include "absl/container/btree_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "env/status.h"
#include "graph/text.h"
#include "graph_rewrite/contraction.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr int kReach = 12;  // how far downstream a pattern's last node may be

struct Best {
  int progress = 0;
  std::string reason;
};
using BestByRule = absl::btree_map<std::string, Best>;  // rule name -> its best try

// Nodes at most kReach steps downstream, nearest first, `id` included.
std::vector<NodeId> Downstream(const Rewriter& rw, NodeId id) {
  std::vector<NodeId> out = {id};
  size_t begin = 0;
  for (int step = 0; step < kReach; ++step) {
    const size_t end = out.size();
    for (; begin < end; ++begin) {
      for (const Use& u : rw.uses(out[begin])) {
        if (std::find(out.begin(), out.end(), u.reader) == out.end()) out.push_back(u.reader);
      }
    }
    if (out.size() > 500) break;
  }
  return out;
}

// The node's name as it appears at the start of a diff line, and back.
std::string PrintName(const std::string& name) {
  Node n;
  n.name = name;
  const std::string line = PrintNode(Graph(), n);
  return line.substr(0, line.find(" = "));
}
std::string ReadName(const std::string& line) {  // "+ %name = ..."
  auto g = ParseGraph(absl::StrCat(line.substr(2, line.find(" = ") - 2), " = X()"));
  return g.ok() && g->num_nodes() == 1 ? g->node(0).name : "";
}

// Tries every rule of the phase at a node of a graph in which none of them fires any more.
BestByRule TryAll(Phase phase, Graph& graph, NodeId id, const RewriteOptions& options) {
  Rewriter rewriter(graph);
  RuleContext context(rewriter, *options.services);
  context.explaining = true;
  BestByRule best;
  const std::vector<NodeId> downstream = Downstream(rewriter, id);
  for (const Rule& rule : AllRules()) {
    if (rule.phase != phase || rule.sweep != nullptr || rule.last) continue;
    const std::vector<std::string> ops = AnchorOps(rule);
    for (NodeId at : downstream) {
      if (!graph.Has(at)) continue;
      // Forms other than patterns look only at their own node and its neighbors.
      if (rule.pattern == nullptr && at != id) break;
      if (ops[0] != "*" && std::find(ops.begin(), ops.end(), graph.node(at).op) == ops.end()) {
        continue;
      }
      Outcome o = TryRule(rule, context, at);
      if (o.fired) return best;  // does not happen, except for disabled rules
      if (o.reason.empty()) continue;
      // A pattern that ends farther downstream concerns this node only if it matched up to here.
      if (at != id && 2 * o.progress < PatternSize(rule)) continue;
      Best& b = best[rule.name];
      if (b.reason.empty() || o.progress > b.progress) b = {o.progress, std::move(o.reason)};
    }
  }
  return best;
}

bool HasLastRules(Phase phase) {
  return std::any_of(AllRules().begin(), AllRules().end(),
                     [&](const Rule& r) { return r.phase == phase && r.last; });
}

// Follows the node `now` through the edits of a phase: it is part of each step whose diff removes
// it, and continues in what that step adds.
void Follow(const PhaseReport& report, const Graph& after, std::string& now, NodeExplanation& out) {
  for (const RewriteStep& s : report.steps) {
    if (now.empty()) break;
    const std::string name = PrintName(now);
    bool removed = false, changed = false;
    std::string by;
    for (const std::string& line : s.diff) {
      removed = removed || absl::StartsWith(line, absl::StrCat("- ", name, " = "));
      changed = changed || absl::StartsWith(line, absl::StrCat("+ ", name, " = "));
      if (!absl::StartsWith(line, "+ %") || absl::StrContains(line, " = Const(")) continue;
      if (by.empty()) by = ReadName(line);
    }
    if (!removed) continue;
    const Node* n = after.FindNode(now);
    const bool in_place = changed && n != nullptr && n->op == out.now_op;
    if (!changed) now = by;
    out.rules.push_back({s.rule, report.phase, true,
                         in_place      ? "changed in place"
                         : now.empty() ? "gone"
                                       : absl::StrCat("now part of '", now, "'")});
  }
  const Node* n = after.FindNode(now);
  out.now = n == nullptr ? "" : now;
  out.now_op = n == nullptr ? "" : n->op;
  out.accelerated = n != nullptr && FindOp(n->op).native;
}

}  // namespace

absl::StatusOr<std::vector<NodeExplanation>> Explain(const Graph& graph,
                                                     const RewriteOptions& options,
                                                     const std::vector<std::string>& nodes) {
  std::vector<NodeExplanation> out;
  std::vector<std::string> names = nodes;
  if (names.empty()) {
    for (NodeId id : graph.NodeIds()) {
      if (IsContraction(graph.node(id).op)) names.push_back(graph.node(id).name);
    }
  }
  // The current location of the computation that started as this node.
  std::vector<std::string> now;
  for (const std::string& name : names) {
    const Node* n = graph.FindNode(name);
    if (n == nullptr) return NotFound("no node is named '", name, "'");
    out.push_back({.node = name, .op = n->op, .now = name, .now_op = n->op, .rules = {}});
    now.push_back(name);
  }

  Graph copy = graph;
  for (Phase phase : kPhases) {
    if (phase > options.last) break;
    // Rules that run last are tried after the others.
    for (const bool others : {true, false}) {
      if (!others && !HasLastRules(phase)) continue;
      RewriteOptions step = options;
      step.record_steps = true;
      step.dump = nullptr;
      step.first = phase;
      step.last = phase;
      step.skip_last_rules = others;
      // Rules that look into functions see them as they were before the phase.
      const FunctionLibrary functions = copy.functions();
      TENON_ASSIGN_OR_RETURN(const RewriteReport report, Rewrite(copy, step));
      if (!report.enabled) return out;
      if (report.phases.empty()) continue;  // not requested
      for (size_t i = 0; i < out.size(); ++i) {
        Follow(report.phases.front(), copy, now[i], out[i]);
        const Node* n = copy.FindNode(now[i]);
        if (n == nullptr || !others) continue;
        Graph scratch = copy;
        scratch.SetFunctions(functions);
        for (auto& [rule, best] : TryAll(phase, scratch, n->id, options)) {
          out[i].rules.push_back({rule, phase, false, best.reason});
        }
      }
    }
  }
  return out;
}

std::string ExplainText(const std::vector<NodeExplanation>& explanations) {
  std::string out;
  for (const NodeExplanation& e : explanations) {
    absl::StrAppend(&out, e.node, " (", e.op, ")");
    if (e.now.empty()) {
      absl::StrAppend(&out, ": gone");
    } else if (e.now != e.node || e.now_op != e.op) {
      absl::StrAppend(&out, " -> ", e.now, " (", e.now_op, ")");
    }
    absl::StrAppend(&out, e.accelerated ? ", accelerated\n" : "\n");
    for (const RuleVerdict& v : e.rules) {
      std::string rule = v.rule;
      rule.resize(std::max<size_t>(rule.size(), 26), ' ');
      absl::StrAppend(&out, "  ", Name(v.phase),
                      std::string(8 - std::string(Name(v.phase)).size(), ' '), rule,
                      v.fired ? " fired: " : " ", v.reason, "\n");
    }
  }
  return out;
}

}  // namespace tenon
