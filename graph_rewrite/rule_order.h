// The order in which rules are tried: by phase, and within a phase as their rows say (`after`).
// Where rows say nothing, sweeps run before other rules, larger patterns before smaller ones,
// `last` rules after all others, and equals by name. The file that holds a rule has no influence.
#ifndef TENON_GRAPH_REWRITE_RULE_ORDER_H_
#define TENON_GRAPH_REWRITE_RULE_ORDER_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "graph_rewrite/rule.h"

namespace tenon {

struct SizedRule {
  Rule rule;
  int size = 1;  // op nodes of its pattern
};

// Appends to `errors` a line for each `after` that names no rule, a rule of another phase, or a
// `last` rule where the rule itself is not; and one for rules that wait for each other, which then
// run by name.
std::vector<Rule> OrderRules(std::vector<SizedRule> rules, std::vector<std::string>& errors);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_RULE_ORDER_H_
