// A rewrite rule is a row: a name (used by tests, the disable list, statistics, traces and docs),
// one line of doc, a phase, and one of four forms. Rules register themselves from a file of their
// own, graph_rewrite/rules/<topic>.rule.cc, so adding a fusion is adding one file and its data
// test.
//
// 1. Two little graphs in the text form of graph/text.h. Names that the pattern does not define
//    capture any tensor; "%k = Const()" matches any constant, a number as operand a constant of
//    that value; "Add|AddV2" either op; attributes that are listed must be equal. In the
//    replacement
//    @node.attr copies an attribute of a matched node; type attributes and defaults fill
//    themselves.
//
//      const RuleRegistration swish({
//          .name = "FuseSwish",
//          .doc = "x * sigmoid(x)",
//          .phase = Phase::kFuse,
//          .pattern = "%s = Sigmoid(%x)  %y = Mul(%x, %s)",
//          .replacement = "%y = _Swish(%x)",
//      });
//
//    The matcher owns what makes a fusion safe: operand order of commutative ops, ports, nodes that
//    others read or fetch, control edges, dtype (`dtypes`). Without "out" lines the last line is
//    the result; nodes named by "out" lines may have other readers, and the replacement's "out"
//    lines of the same names take their place.
//    Alternatives, for one thing that is written in several ways, are separated by "||"; they share
//    the replacement and the hooks.
// 2. A chain: a contraction and what follows it (graph_rewrite/chain.h).
// 3. `apply` on every node whose op is in `anchors`.
// 4. `sweep` over the whole graph.
//
// The driver checks control edges for forms 3 and 4, too: a rule gets the nodes that it may replace
// from RuleContext::Candidate and Candidates, and is tried only at such nodes unless its row says
// `keeps_control_inputs`.
//
// Within a phase a rule runs after the rules that it names in `after`. Otherwise sweeps run first,
// then larger patterns before smaller ones, then rules by name (graph_rewrite/rule_order.h).
#ifndef TENON_GRAPH_REWRITE_RULE_H_
#define TENON_GRAPH_REWRITE_RULE_H_

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph_rewrite/context.h"

namespace tenon {

class Match;        // graph_rewrite/match.h
class Replacement;  // graph_rewrite/replacement.h

// kPrecision runs only where a lower precision was asked for (RewriteOptions::precision).
enum class Phase { kClean, kFold, kFuse, kPrecision, kRename };
inline constexpr Phase kPhases[] = {Phase::kClean, Phase::kFold, Phase::kFuse, Phase::kPrecision,
                                    Phase::kRename};
const char* Name(Phase phase);

struct Rule {
  const char* name = nullptr;
  const char* doc = nullptr;
  Phase phase = Phase::kFuse;

  // Form 1.
  const char* pattern = nullptr;
  const char* replacement = nullptr;
  // Forms 1 and 3: dtypes of the result, as in "float bfloat16"; "" for any. Null: float, half and
  // bfloat16 for a pattern, any for a function.
  const char* dtypes = nullptr;
  // A pure condition beyond the pattern: FailedPrecondition with the reason, "filter is not
  // square".
  absl::Status (*when)(const Match&) = nullptr;
  // Sets attributes and constants of the replacement that must be computed. An error: not
  // rewritten.
  absl::Status (*fold)(const Match&, Replacement&) = nullptr;

  // Form 2: the op, the fused op that it becomes.
  const char* contraction = nullptr;
  const char* fused = nullptr;

  // Form 3: ops, as in "Mul|AddV2", or "*".
  const char* anchors = nullptr;
  Outcome (*apply)(RuleContext&, NodeId) = nullptr;

  // Form 4. Counts its own steps through RuleContext::Step.
  absl::Status (*sweep)(RuleContext&) = nullptr;

  // Forms 3 and 4. True: the nodes at which the rule starts may have control inputs, because the
  // rule changes them in place or hands the edges on. False, the safe default: it is not tried
  // there.
  bool keeps_control_inputs = false;

  // Rules of the same phase that must be tried before this one, as in "FuseConv2D FuseMatMul".
  const char* after = "";
  // Runs again after the others have changed something. Off: once, before the others.
  bool repeat = true;
  // Only when no other rule of the phase fires any more.
  bool last = false;
};

class RuleRegistration {
 public:
  explicit RuleRegistration(const Rule& rule);
};

// All rules, in the order in which their phase tries them.
absl::Span<const Rule> AllRules();
const Rule* FindRule(absl::string_view name);
// Rules with two forms or none, the same name twice, patterns that do not parse, orders that cannot
// be. A test reads it.
std::vector<std::string> RuleTableErrors();

// The ops that a rule can start at; {"*"} for any, {} for a sweep.
std::vector<std::string> AnchorOps(const Rule& rule);
// False where some op that the rule's pattern needs is nowhere in the graph.
bool CanMatch(const Rule& rule, absl::FunctionRef<bool(absl::string_view)> has_op);
// Why the rule is not for the dtype of the node's result; empty: it is.
std::string WrongDType(const Rule& rule, RuleContext& context, NodeId node);
// Op nodes of the rule's (largest) pattern; 1 for the other forms.
int PatternSize(const Rule& rule);
// Tries one rule at one node; does not open a step.
Outcome TryRule(const Rule& rule, RuleContext& context, NodeId node);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_RULE_H_
