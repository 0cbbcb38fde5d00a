// Rule order: by phase, and within a phase by the rows' `after`. Without it, sweeps run before
// other rules, larger patterns before smaller ones, and `last` rules after all others; ties are
// resolved by name. The file of a rule does not matter.
#ifndef TENON_GRAPH_REWRITE_RULE_ORDER_H_
#define TENON_GRAPH_REWRITE_RULE_ORDER_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "graph_rewrite/rule.h"

namespace tenon {

struct SizedRule {
  Rule rule;
  int size = 1;  // number of op nodes in its pattern
};

// Appends to `errors` a line for each `after` that names no rule, a rule of another phase, or a
// `last` rule if the rule itself is not one. Also appends one for rules that wait for each other;
// these then run by name.
std::vector<Rule> OrderRules(std::vector<SizedRule> rules, std::vector<std::string>& errors);

}  // namespace tenon

#endif  // TENON_GRAPH_REWRITE_RULE_ORDER_H_
