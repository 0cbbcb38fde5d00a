// A rewrite rule is a row: a name (used by tests, the disable list, statistics, traces and docs),
// one line of documentation, a phase, and one of four forms. Each rule registers itself from its
// own file, graph_rewrite/rules/<topic>.rule.cc, so adding a fusion means adding one file and its
// test data.
//
// 1. Two small graphs in the text form of graph/text.h. Names that the pattern does not define
//    capture any tensor; "%k = Const()" matches any constant, and a number as operand a constant
//    with that value; "Add|AddV2" matches either op; listed attributes must be equal. In the
//    replacement, @node.attr copies an attribute of a matched node; type attributes and defaults
//    are filled in.
//
//      const RuleRegistration swish({
//          .name = "FuseSwish",
//          .doc = "x * sigmoid(x)",
//          .phase = Phase::kFuse,
//          .pattern = "%s = Sigmoid(%x)  %y = Mul(%x, %s)",
//          .replacement = "%y = _Swish(%x)",
//      });
//
//    The matcher checks that a fusion is safe: operand order of commutative ops, ports, nodes with
//    other readers or fetches, control edges, dtype (`dtypes`). Without "out" lines the last line
//    is the result; nodes named by "out" lines may have other readers, and the replacement's "out"
//    lines with the same names take their place.
//    "||" separates alternatives, for a computation that can be written in several ways; they share
//    the replacement and the hooks.
// 2. A chain: a contraction and the ops after it (graph_rewrite/chain.h).
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

// kPrecision runs only if a lower precision was requested (RewriteOptions::precision).
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
  // A pure condition beyond the pattern: FailedPrecondition with the reason, such as "filter is not
  // square".
  absl::Status (*when)(const Match&) = nullptr;
  // Computes attributes and constants of the replacement. If it fails, nothing is rewritten.
  absl::Status (*fold)(const Match&, Replacement&) = nullptr;

  // Form 2: the op, and the fused op that it becomes.
  const char* contraction = nullptr;
  const char* fused = nullptr;

  // Form 3: ops, such as "Mul|AddV2", or "*".
  const char* anchors = nullptr;
  Outcome (*apply)(RuleContext&, NodeId) = nullptr;

  // Form 4. Counts its own steps through RuleContext::Step.
  absl::Status (*sweep)(RuleContext&) = nullptr;

  // Forms 3 and 4: whether the rule may start at nodes with control inputs, because it changes them
  // in place or passes the edges on. By default, which is safe, it is not tried there.
  bool keeps_control_inputs = false;

  // Rules of the same phase that must be tried before this one, as in "FuseConv2D FuseMatMul".
  const char* after = "";
  // Whether it runs again after other rules have changed something; if not, it runs once, before
  // them.
  bool repeat = true;
  // Whether it runs only when no other rule of the phase fires any more.
  bool last = false;
};

class RuleRegistration {
 public:
  explicit RuleRegistration(const Rule& rule);
};

// All rules, in the order in which their phase tries them.
absl::Span<const Rule> AllRules();
const Rule* FindRule(absl::string_view name);
// Errors in the rules: two forms or none, duplicate names, patterns that do not parse, impossible
// orders. Checked by a test.
std::vector<std::string> RuleTableErrors();

// The ops that a rule can start at; {"*"} for any, {} for a sweep.
std::vector<std::string> AnchorOps(const Rule& rule);
// False if the graph lacks some op that the rule's pattern needs.
bool CanMatch(const Rule& rule, absl::FunctionRef<bool(absl::string_view)> has_op);
// The reason why the rule does not support the dtype of the node's result; empty if it does.
std::string WrongDType(const Rule& rule, RuleContext& context, NodeId node);
// The number of op nodes in the rule's (largest) pattern; 1 for the other forms.
int PatternSize(const Rule& rule);
// Tries one rule at one node; does not begin a step.
Outcome TryRule(const Rule& rule, RuleContext& context, NodeId node);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_RULE_H_
