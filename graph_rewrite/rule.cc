#include "graph_rewrite/rule.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "env/containers.h"
#include "graph_rewrite/chain.h"
#include "graph_rewrite/pattern.h"
#include "graph_rewrite/pattern_set.h"
#include "graph_rewrite/rule_order.h"

namespace tenon {
namespace {

// Filled during static initialization (on one thread).
std::vector<Rule>& Registrations() {
  static auto* const list = new std::vector<Rule>;
  return *list;
}

struct Table {
  std::vector<Rule> rules;
  HashMap<std::string, std::unique_ptr<PatternSet>> patterns;
  std::vector<std::string> errors;
};

const char* DTypesOf(const Rule& rule) {
  if (rule.dtypes != nullptr) return rule.dtypes;
  return rule.pattern != nullptr ? "float half bfloat16" : "";
}

// An error in a single row, or an empty string.
std::string ErrorOf(const Rule& r) {
  const int forms = (r.pattern != nullptr) + (r.contraction != nullptr) + (r.apply != nullptr) +
                    (r.sweep != nullptr);
  if (r.name == nullptr || r.doc == nullptr || forms != 1)
    return "needs a name, a doc and one form";
  if (r.keeps_control_inputs && (r.pattern != nullptr || r.contraction != nullptr)) {
    return "nodes of a match are replaced, so their control inputs cannot be kept";
  }
  for (absl::string_view word : absl::StrSplit(DTypesOf(r), ' ', absl::SkipEmpty())) {
    if (!DTypeFromName(word)) return absl::StrCat("'", word, "' is no dtype");
  }
  return "";
}

Table* MakeTable() {
  auto* table = new Table;
  std::vector<SizedRule> sized;
  HashSet<absl::string_view> names;
  for (const Rule& r : Registrations()) {
    std::string error = ErrorOf(r);
    if (error.empty() && !names.insert(r.name).second) error = "registered twice";
    if (!error.empty()) {
      table->errors.push_back(absl::StrCat(r.name == nullptr ? "?" : r.name, ": ", error));
      continue;
    }
    int size = 1;
    if (r.pattern != nullptr) {
      auto patterns = std::make_unique<PatternSet>(r);
      size = patterns->size();
      table->patterns.emplace(r.name, std::move(patterns));
    }
    sized.push_back({r, size});
  }
  table->rules = OrderRules(std::move(sized), table->errors);
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

RuleRegistration::RuleRegistration(const Rule& rule) { Registrations().push_back(rule); }

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

std::string WrongDType(const Rule& rule, RuleContext& context, NodeId node) {
  const char* const dtypes = DTypesOf(rule);
  if (*dtypes == 0 || context.any_dtype) return "";
  const DType dtype = context.shapes.dtype({node, 0});
  for (absl::string_view word : absl::StrSplit(dtypes, ' ')) {
    if (DTypeFromName(word) == dtype) return "";
  }
  context.NoteBlock(ReasonKind::kDType, node);
  return absl::StrCat("not for ", Name(dtype));
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
  std::string why;
  if (!rule.keeps_control_inputs && !context.IsCandidate(node, &why)) {
    return Outcome::Skip(1, std::move(why), node, ReasonKind::kControlIn);
  }
  if (rule.contraction != nullptr) return TryChain(rule, context, node);
  if (rule.apply == nullptr) return Outcome::NotMine();
  why = WrongDType(rule, context, node);
  if (!why.empty()) return Outcome::Skip(1, std::move(why), node, ReasonKind::kDType);
  context.TakeRefusal();  // of an earlier rule
  Outcome outcome = rule.apply(context, node);
  Outcome refusal = context.TakeRefusal();
  return outcome.fired || refusal.reason.empty() ? outcome : refusal;
}

}  // namespace tenon
