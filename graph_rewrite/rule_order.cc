#include "graph_rewrite/rule_order.h"

#include <algorithm>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace tenon {
namespace {

// The order of rules without `after`.
bool GoesFirst(const SizedRule& a, const SizedRule& b) {
  const auto key = [](const SizedRule& r) {
    return std::tuple(r.rule.phase, r.rule.last, r.rule.sweep == nullptr, -r.size,
                      absl::string_view(r.rule.name));
  };
  return key(a) < key(b);
}

const Rule* Find(absl::Span<const SizedRule> rules, absl::string_view name) {
  const auto it = std::find_if(rules.begin(), rules.end(),
                               [&](const SizedRule& r) { return name == r.rule.name; });
  return it == rules.end() ? nullptr : &it->rule;
}

// The reason why `rule` cannot run after `before`; null if it can.
const char* Obstacle(const Rule& rule, const Rule* before) {
  if (before == nullptr) return ", which is no rule";
  if (before->phase != rule.phase) return ", which is of another phase";
  if (before->last && !rule.last) return ", which is last";
  return nullptr;
}

std::vector<absl::string_view> Before(const Rule& rule) {
  return absl::StrSplit(rule.after, ' ', absl::SkipEmpty());
}

}  // namespace

std::vector<Rule> OrderRules(std::vector<SizedRule> rules, std::vector<std::string>& errors) {
  std::sort(rules.begin(), rules.end(), GoesFirst);
  for (const SizedRule& r : rules) {
    for (absl::string_view name : Before(r.rule)) {
      if (const char* why = Obstacle(r.rule, Find(rules, name)); why != nullptr) {
        errors.push_back(absl::StrCat(r.rule.name, ": after ", name, why));
      }
    }
  }
  std::vector<Rule> ordered;
  while (!rules.empty()) {
    // The first rule that waits for no remaining rule.
    auto next = std::find_if(rules.begin(), rules.end(), [&](const SizedRule& r) {
      const auto before = Before(r.rule);
      return std::none_of(before.begin(), before.end(), [&](absl::string_view name) {
        return Obstacle(r.rule, Find(rules, name)) == nullptr;
      });
    });
    if (next == rules.end()) {
      errors.push_back(absl::StrCat(
          absl::StrJoin(rules, ", ",
                        [](std::string* out, const SizedRule& r) { out->append(r.rule.name); }),
          ": a cycle of rules that wait for each other"));
      next = rules.begin();
    }
    ordered.push_back(next->rule);
    rules.erase(next);
  }
  return ordered;
}

}  // namespace tenon
