#include "graph_rewrite/pattern.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

// Whether the replacement keeps the result as it is: "out r = %r".
bool Stays(const CompiledPattern& pattern, absl::string_view out, absl::string_view node) {
  const Graph& r = pattern.replacement;
  return std::any_of(r.outputs().begin(), r.outputs().end(), [&](const GraphOutput& o) {
    const Node& source = r.node(o.source.node);
    return o.name == out && source.op == "_Capture" && source.name == node;
  });
}

// With several results, a captured tensor that depends on a replaced result would close a cycle.
// Returns the reason, or an empty string if there is none.
std::string Cycle(const CompiledPattern& pattern, const Match& match) {
  if (pattern.outs.size() < 2) return "";
  const Rewriter& rw = match.context().rw;
  for (const auto& p : pattern.nodes) {
    if (p.kind != CompiledPattern::PNode::kCapture) continue;
    for (const auto& [name, at] : pattern.outs) {
      const std::string& out = pattern.nodes[static_cast<size_t>(at.first)].name;
      if (!Stays(pattern, name, out) && rw.DependsOn(match.at(p.name).node, match.at(out).node)) {
        return absl::StrCat("%", p.name, " depends on a result");
      }
    }
  }
  return "";
}

}  // namespace

Outcome TryPattern(const Rule& rule, const CompiledPattern& pattern, RuleContext& context,
                   NodeId root) {
  Match match(context, pattern);
  Outcome outcome;
  if (!FindMatch(match, root, outcome)) return outcome;
  auto skip = [&](std::string reason, ReasonKind kind = ReasonKind::kCondition) {
    Outcome o = Outcome::Skip(pattern.size + 2, std::move(reason), root, kind);
    if (context.explaining) o.matched = match.MatchedOps();
    return o;
  };
  if (std::string why = WrongDType(rule, context, root); !why.empty()) {
    return skip(std::move(why), ReasonKind::kDType);
  }
  if (rule.when != nullptr) {
    if (absl::Status s = rule.when(match); !s.ok()) return skip(std::string(s.message()));
  }
  Replacement filled;
  if (rule.fold != nullptr) {
    if (absl::Status s = rule.fold(match, filled); !s.ok()) return skip(std::string(s.message()));
  }
  if (std::string why = Cycle(pattern, match); !why.empty()) return skip(std::move(why));
  const absl::Status replaced = ReplaceMatch(pattern, match, filled);
  return replaced.ok() ? Outcome::Fired() : skip(std::string(replaced.message()));
}

}  // namespace tenon
