#include "graph_rewrite/tries.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "env/containers.h"
#include "env/flags.h"

namespace tenon {
namespace {

bool IsDisabled(const Rule& rule, const Flags& flags) {
  const std::vector<absl::string_view> names =
      absl::StrSplit(flags.disabled_rules, absl::ByAnyChar(", "));
  return std::find(names.begin(), names.end(), rule.name) != names.end();
}

}  // namespace

void ForEachAnchor(const Rule& rule, const Graph& graph, absl::FunctionRef<void(NodeId)> visit) {
  const std::vector<std::string> ops = AnchorOps(rule);
  if (ops.empty()) return;
  for (NodeId id : graph.NodeIds()) {
    const bool starts =
        ops[0] == "*" || std::find(ops.begin(), ops.end(), graph.node(id).op) != ops.end();
    if (starts) visit(id);
  }
}

bool WasCandidate(const Try& attempt) {
  const Outcome& o = attempt.outcome;
  if (o.reason.empty()) return false;
  if (attempt.rule->pattern == nullptr) return o.progress >= 2;
  const int size = PatternSize(*attempt.rule);
  // A check that comes after the match failed, or most of the pattern matched.
  if (o.progress > size) return true;
  const int least = o.kind == ReasonKind::kOp ? 3 : 2;
  return o.progress >= least && 3 * o.progress >= 2 * size;
}

Reason ReasonOf(const Try& attempt, const Graph& graph) {
  const Outcome& o = attempt.outcome;
  if (o.blame == kNoNode || !graph.Has(o.blame)) return MakeReason(o.kind, "", "", o.reason);
  const Node& n = graph.node(o.blame);
  absl::string_view found = o.reason;
  const std::string who = absl::StrCat("'", n.name, "' (", n.op, ") ");
  if (absl::ConsumePrefix(&found, who)) return MakeReason(o.kind, n.name, n.op, found);
  return MakeReason(o.kind, "", "", o.reason);
}

std::vector<Try> TryRules(Phase phase, TriedRules which, const Graph& graph,
                          const FunctionLibrary& functions, const RewriteOptions& options) {
  std::vector<Try> out;
  Graph scratch;
  std::unique_ptr<Rewriter> rewriter;
  std::unique_ptr<RuleContext> context;
  const auto start = [&] {
    context = nullptr;
    rewriter = nullptr;
    scratch = graph;
    scratch.SetFunctions(functions);
    rewriter = std::make_unique<Rewriter>(scratch);
    context = std::make_unique<RuleContext>(*rewriter, *options.services);
    context->explaining = true;
  };
  start();
  HashSet<absl::string_view> ops;
  for (NodeId id : graph.NodeIds()) ops.insert(graph.node(id).op);
  for (const Rule& rule : AllRules()) {
    if (rule.phase != phase || rule.sweep != nullptr) continue;
    if (rule.last != (which == TriedRules::kLast)) continue;
    if (IsDisabled(rule, *options.services->flags)) continue;
    ForEachAnchor(rule, graph, [&](NodeId at) {
      context->TakeBlocks();
      Outcome outcome = TryRule(rule, *context, at);
      if (outcome.fired) return start();  // one that runs once only; no why-not
      std::vector<Block> blocks = context->TakeBlocks();
      Try attempt{&rule, at, std::move(outcome), std::move(blocks)};
      if (WasCandidate(attempt) || !attempt.blocks.empty()) out.push_back(std::move(attempt));
    });
  }
  return out;
}

}  // namespace tenon
