#include "graph_rewrite/rule.h"

#include <algorithm>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "graph_rewrite/chain.h"
#include "graph_rewrite/pattern_set.h"

namespace tenon {
namespace {

struct Registered {
  Rule rule;
  std::string file;
  int line;
};

// Filled while the program's statics are constructed (one thread).
std::vector<Registered>& Registrations() {
  static auto* const list = new std::vector<Registered>;
  return *list;
}

struct Table {
  std::vector<Rule> rules;
  absl::flat_hash_map<std::string, std::unique_ptr<PatternSet>> patterns;
  std::vector<std::string> errors;
};

Table* MakeTable() {
  auto* table = new Table;
  std::vector<Registered> all = Registrations();
  auto error = [&](const Rule& r, auto... what) {
    table->errors.push_back(absl::StrCat(r.name == nullptr ? "?" : r.name, ": ", what...));
  };
  struct Sized {
    Registered r;
    int size;
  };
  std::vector<Sized> sized;
  for (Registered& r : all) {
    const int forms = (r.rule.pattern != nullptr) + (r.rule.contraction != nullptr) +
                      (r.rule.apply != nullptr) + (r.rule.sweep != nullptr);
    if (r.rule.name == nullptr || r.rule.doc == nullptr || forms != 1) {
      error(r.rule, "needs a name, a doc and one form");
      continue;
    }
    int size = r.rule.sweep != nullptr ? 1000 : 1;
    if (r.rule.pattern != nullptr) {
      auto patterns = std::make_unique<PatternSet>(r.rule);
      size = patterns->size();
      if (!table->patterns.emplace(r.rule.name, std::move(patterns)).second) {
        error(r.rule, "registered twice");
        continue;
      }
    }
    sized.push_back({std::move(r), size});
  }
  std::sort(sized.begin(), sized.end(), [](const Sized& a, const Sized& b) {
    return std::tie(a.r.rule.phase, a.r.rule.last, b.size, a.r.file, a.r.line) <
           std::tie(b.r.rule.phase, b.r.rule.last, a.size, b.r.file, b.r.line);
  });
  for (const Sized& s : sized) {
    if (std::any_of(table->rules.begin(), table->rules.end(),
                    [&](const Rule& r) { return absl::string_view(r.name) == s.r.rule.name; })) {
      error(s.r.rule, "registered twice");
      continue;
    }
    table->rules.push_back(s.r.rule);
  }
  return table;
}

const Table& TheTable() {
  static const Table* const table = MakeTable();
  return *table;
}

const PatternSet& PatternsOf(const Rule& rule) { return *TheTable().patterns.at(rule.name); }

}  // namespace

const char* Name(Phase phase) {
  switch (phase) {
    case Phase::kClean:
      return "clean";
    case Phase::kFold:
      return "fold";
    case Phase::kFuse:
      return "fuse";
    case Phase::kPrecision:
      return "precision";
    case Phase::kRename:
      return "rename";
  }
  return "";
}

RuleRegistration::RuleRegistration(const Rule& rule, const char* file, int line) {
  Registrations().push_back({rule, file, line});
}

absl::Span<const Rule> AllRules() { return TheTable().rules; }

const Rule* FindRule(absl::string_view name) {
  for (const Rule& r : TheTable().rules) {
    if (r.name == name) return &r;
  }
  return nullptr;
}

std::vector<std::string> RuleTableErrors() {
  std::vector<std::string> errors = TheTable().errors;
  for (const Rule& r : TheTable().rules) {
    if (r.pattern == nullptr) continue;
    const auto& compiled = PatternsOf(r).Compiled();
    if (!compiled.ok()) errors.push_back(absl::StrCat(r.name, ": ", compiled.status().message()));
  }
  return errors;
}

std::vector<std::string> AnchorOps(const Rule& rule) {
  if (rule.pattern != nullptr) return PatternsOf(rule).anchors();
  if (rule.contraction != nullptr) return {rule.contraction, rule.fused};
  if (rule.anchors != nullptr) return absl::StrSplit(rule.anchors, '|');
  return {};
}

bool CanMatch(const Rule& rule, absl::FunctionRef<bool(absl::string_view)> has_op) {
  return rule.pattern == nullptr || PatternsOf(rule).CanMatch(has_op);
}

int PatternSize(const Rule& rule) { return rule.pattern == nullptr ? 1 : PatternsOf(rule).size(); }

Outcome TryRule(const Rule& rule, RuleContext& context, NodeId node) {
  if (rule.pattern != nullptr) {
    Outcome best;
    const auto& compiled = PatternsOf(rule).Compiled();
    if (!compiled.ok()) return Outcome::Skip(0, std::string(compiled.status().message()), node);
    for (const CompiledPattern& p : *compiled) {
      Outcome outcome = TryPattern(rule, p, context, node);
      if (outcome.fired) return outcome;
      if (outcome.progress > best.progress || best.reason.empty()) best = std::move(outcome);
    }
    return best;
  }
  if (rule.contraction != nullptr) return TryChain(rule, context, node);
  if (rule.apply != nullptr) return rule.apply(context, node);
  return Outcome::NotMine();
}

}  // namespace tenon
