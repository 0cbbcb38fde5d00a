#include "graph_rewrite/explain.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "env/containers.h"
#include "env/status.h"
#include "graph_rewrite/free_work.h"
#include "graph_rewrite/origins.h"
#include "ops/op.h"
#include "ops/rename.h"

namespace tenon {
namespace {

template <typename Ids>
bool Contains(const Ids& ids, NodeId id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

// The node's name after the step; it was added or changed in it, or is as it was before.
std::string NameAfter(const RewriteStep& step, NodeId id, const Graph& after) {
  for (const auto* nodes : {&step.edit.added, &step.edit.changed}) {
    for (const Node& n : *nodes) {
      if (n.id == id) return n.name;
    }
  }
  return after.Has(id) ? after.node(id).name : "";
}

std::string OpAfter(const GraphEdit& edit, NodeId id, const Graph& after) {
  for (const auto* nodes : {&edit.added, &edit.changed}) {
    for (const Node& n : *nodes) {
      if (n.id == id) return n.op;
    }
  }
  return after.Has(id) ? after.node(id).op : "";
}

class Follower {
 public:
  Follower(const Story& story, const std::string& function, NodeId start)
      : story_(story), function_(function), now_(start) {
    const Node& n = FunctionOf(story.loaded(), function)->node(start);
    out_.function = function;
    op_now_ = n.op;
    out_.node = n.name;
    out_.op = n.op;
  }

  NodeExplanation Run() {
    for (size_t i = 0; i < story_.report.phases.size(); ++i) {
      const PhaseReport& report = story_.report.phases[i];
      path_ = {now_};
      const Graph* const after = FunctionOf(story_.snapshots[i + 1].graph, function_);
      if (after == nullptr) return std::move(out_);  // nobody calls the function any more
      FollowPhase(report, *after);
      WhyNots(report.phase);
    }
    const Graph& g = *FunctionOf(story_.rewritten(), function_);
    if (g.Has(now_)) {
      out_.now = g.node(now_).name;
      out_.now_op = g.node(now_).op;
      out_.accelerated = FindOp(out_.now_op).native;
    }
    return std::move(out_);
  }

 private:
  void FollowPhase(const PhaseReport& report, const Graph& after) {
    for (const RewriteStep& step : report.steps) {
      if (now_ == kNoNode) return;
      if (step.function != function_) continue;
      const GraphEdit& edit = step.edit;
      const bool removed = std::any_of(edit.removed.begin(), edit.removed.end(),
                                       [&](const auto& r) { return r.id == now_; });
      const auto changed = std::find_if(edit.changed.begin(), edit.changed.end(),
                                        [&](const Node& n) { return n.id == now_; });
      if (!removed && (changed == edit.changed.end() || changed->op == op_now_)) continue;
      if (!removed) {
        Fired(step.rule, report.phase, absl::StrCat("is now ", changed->op));
        op_now_ = changed->op;
        continue;
      }
      // Of several nodes that took it over, the one that computes, and not what read its shape.
      NodeId next = kNoNode;
      for (const auto& [old, now] : edit.moved) {
        if (old != now_) continue;
        const bool computes = FactsOf(OpAfter(edit, now, after)).native != nullptr;
        if (next == kNoNode || computes) next = now;
        if (computes) break;
      }
      now_ = next;
      path_.push_back(now_);
      op_now_ = OpAfter(edit, next, after);
      const std::string name = next == kNoNode ? "" : NameAfter(step, next, after);
      Fired(step.rule, report.phase,
            next == kNoNode ? "gone" : absl::StrCat("now part of '", name, "'"));
    }
  }

  void Fired(const std::string& rule, Phase phase, std::string where) {
    out_.rules.push_back({rule, phase, true, false, std::move(where), {}});
  }

  // Of the nodes that computed it during the phase.
  void WhyNots(Phase phase) {
    const auto is_it = [this](NodeId id) { return id != kNoNode && Contains(path_, id); };
    const auto has_it = [&](const std::vector<NodeId>& ids) {
      return std::any_of(ids.begin(), ids.end(), is_it);
    };
    OrderedMap<std::string, RuleVerdict> misses;
    for (const NearMiss& miss : story_.near_misses) {
      if (miss.function != function_) continue;
      if (miss.phase != phase || (!is_it(miss.anchor) && !has_it(miss.nodes))) continue;
      misses[miss.rule] = {miss.rule, phase, false, true, miss.reason.Text(), miss.reason};
    }
    struct Best {
      int progress = 0;
      RuleVerdict verdict;
    };
    OrderedMap<std::string, Best> others;
    for (const Story::Tried& tried : story_.tried) {
      if (tried.phase != phase || tried.function != function_) continue;
      for (const Try& t : tried.tries) {
        const bool concerned = is_it(t.at) || is_it(t.outcome.blame) || has_it(t.outcome.matched);
        if (!concerned || misses.contains(t.rule->name) || !WasCandidate(t)) continue;
        Best& best = others[t.rule->name];
        if (t.outcome.progress <= best.progress) continue;
        Reason why = ReasonOf(t, tried.graph);
        best.progress = t.outcome.progress;
        best.verdict = {t.rule->name, phase, false, false, why.Text(), why};
      }
    }
    for (auto& [rule, verdict] : misses) out_.rules.push_back(std::move(verdict));
    std::vector<Best> sorted;
    for (auto& [rule, best] : others) sorted.push_back(std::move(best));
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Best& a, const Best& b) { return a.progress > b.progress; });
    for (Best& best : sorted) out_.rules.push_back(std::move(best.verdict));
  }

  const Story& story_;
  const std::string function_;  // that the node is in
  NodeId now_;
  std::string op_now_;
  std::vector<NodeId> path_;  // all that computed it during the phase
  NodeExplanation out_;
};

}  // namespace

std::optional<FoundNode> FindAnywhere(const Graph& graph, absl::string_view name) {
  if (const Node* n = graph.FindNode(name); n != nullptr) return FoundNode{"", n->id};
  for (const auto& [function, body] : graph.functions()) {
    std::optional<FoundNode> found = FindAnywhere(*body, name);
    if (!found.has_value()) continue;
    found->function =
        found->function.empty() ? function : absl::StrCat(function, "/", found->function);
    return found;
  }
  return std::nullopt;
}

absl::StatusOr<std::vector<NodeExplanation>> Explain(const Story& story,
                                                     const std::vector<std::string>& nodes) {
  const Graph& graph = story.loaded();
  std::vector<NodeExplanation> out;
  for (const std::string& name : nodes) {
    const std::optional<FoundNode> found = FindAnywhere(graph, name);
    if (!found.has_value()) return NotFound("no node is named '", name, "'");
    out.push_back(Follower(story, found->function, found->node).Run());
  }
  if (!nodes.empty()) return out;
  const FreeWork free(graph);
  for (NodeId id : graph.NodeIds()) {
    if (FactsOf(graph.node(id).op).native == nullptr || free.IsFree(id)) continue;
    out.push_back(Follower(story, "", id).Run());
  }
  return out;
}

absl::StatusOr<std::vector<NodeExplanation>> Explain(const Graph& graph,
                                                     const RewriteOptions& options,
                                                     const std::vector<std::string>& nodes) {
  for (const std::string& name : nodes) {
    if (!FindAnywhere(graph, name).has_value()) return NotFound("no node is named '", name, "'");
  }
  TENON_ASSIGN_OR_RETURN(const Story story, TellStory(graph, options, {}));
  return Explain(story, nodes);
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
                      v.fired       ? " fired: "
                      : v.near_miss ? " almost: "
                                    : " ",
                      v.reason, "\n");
    }
  }
  return out;
}

Reason WhyNotAccelerated(const Node& node) {
  const OpLookup op = FindOp(node.op);
  if (!op) return MakeReason(ReasonKind::kNoKernel, "", "", "the op is not implemented");
  if (op.native) {
    return MakeReason(ReasonKind::kKernelRefused, "", "",
                      "the accelerated kernel does not take these shapes or attributes");
  }
  std::string why;
  if (NativeName(*op.info, node, &why) != nullptr) {
    return MakeReason(ReasonKind::kCondition, "", "", "not renamed");
  }
  const bool has_kernel = op.info->row.native != nullptr && op.info->row.accelerated != nullptr;
  return MakeReason(has_kernel ? ReasonKind::kKernelDType : ReasonKind::kNoKernel, "", "", why);
}

}  // namespace tenon
