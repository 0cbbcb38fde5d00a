// tenon ops: prints the op table, the number of ops, or how much of a model they cover.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "env/status.h"
#include "kernels/elementwise/elementwise.h"
#include "ops/op.h"
#include "ops/rename.h"
#include "tools/command.h"
#include "tools/coverage.h"
#include "tools/table.h"

namespace tenon {
namespace {

struct OpsArgs {
  bool internal = false;
  bool count = false;
  bool counts_only = false;
  std::vector<std::string> models;
  CoverageOptions coverage;
};

std::string Names(const std::vector<DType>& dtypes) {
  return absl::StrJoin(dtypes, " ",
                       [](std::string* out, DType d) { absl::StrAppend(out, Name(d)); });
}

std::string DTypes(const OpInfo& op) {
  // The first type attribute of the signature decides the kernel.
  for (const AttrSpec& attr : op.signature.attrs) {
    if (attr.kind != "type") continue;
    const auto it = op.signature.types.find(attr.name);
    if (it == op.signature.types.end()) return "every dtype";
    return Names(it->second);
  }
  return "yes";
}

bool IsTensorFlows(const OpRow& row) {
  return !row.internal && row.reference != nullptr && !absl::StartsWith(row.name, "_");
}

bool IsActivation(const OpRow& row) {
  const ElementwiseInfo* info = FindFusedOp(row.name);
  return info != nullptr && info->arity() == 1;
}

// What rewrites, plans and the quantizer rely on, in short.
std::string FactsText(const OpRow& row) {
  std::vector<const char*> facts;
  if (row.moves_elements) facts.push_back("moves elements");
  if (row.discontinuous) facts.push_back("discontinuous");
  if (row.sign == Sign::kNeverNegative) facts.push_back("never negative");
  if (row.precision == PrecisionRole::kLeads) facts.push_back("leads bfloat16");
  if (row.precision == PrecisionRole::kFollows) facts.push_back("follows bfloat16");
  if (row.batch_axis != nullptr) facts.push_back("keeps rows apart");
  if (row.on_integers != OnIntegers::kNone) facts.push_back("runs on integers");
  return absl::StrJoin(facts, ", ");
}

const char* YesIf(bool yes) { return yes ? "yes" : ""; }

void PrintTable(const OpsArgs& args) {
  Table table({"op", "eager", "graph", "after rewriting", "accelerated for", "post-op",
               "reference kernel for", "facts"});
  for (const OpInfo* op : AllOps()) {
    const OpRow& row = op->row;
    if (row.internal && !args.internal) continue;
    const bool native = row.native != nullptr;
    std::string reference = row.reference == nullptr ? "" : DTypes(*op);
    if (row.alias) reference = absl::StrCat("(shares memory) ", reference);
    // Eager has every op; where it does not rename, the reference kernel runs.
    const char* eager = row.internal ? "" : native && !row.eager ? "reference" : "yes";
    table.Add({row.name, eager, "yes", native ? row.native : "",
               native ? Names(NativeTypes(*op)) : "", YesIf(IsActivation(row)), reference,
               FactsText(row)});
  }
  Print(table, args.coverage.markdown);
}

absl::Status Ops(const OpsArgs& args) {
  if (args.count) {
    const std::vector<const OpInfo*> ops = AllOps();
    const auto count = [&](auto which) {
      return std::count_if(ops.begin(), ops.end(),
                           [&](const OpInfo* op) { return which(op->row); });
    };
    std::printf("%td TensorFlow ops, %td of them accelerated\n", count(IsTensorFlows),
                count([](const OpRow& r) { return IsTensorFlows(r) && r.native != nullptr; }));
    return absl::OkStatus();
  }
  if (args.models.empty()) {
    PrintTable(args);
    return absl::OkStatus();
  }
  CoverageOptions options = args.coverage;
  if (args.counts_only) options.seconds = 0;
  TENON_ASSIGN_OR_RETURN(const std::string text, CoverageText(args.models, options));
  std::printf("%s", text.c_str());
  return absl::OkStatus();
}

}  // namespace

Command AddOpsCommand(CLI::App& parent) {
  auto args = std::make_shared<OpsArgs>();
  CLI::App* app = parent.add_subcommand("ops", "Lists the ops that exist");
  AddMarkdownArg(*app, args->coverage.markdown);
  app->add_flag("--internal", args->internal, "include ops that only rewriting creates");
  app->add_flag("--count", args->count, "print the number of TensorFlow ops");
  app->add_option(
         "--coverage", args->models,
         "MODEL…: which of their ops are accelerated, run on reference kernels, or are missing")
      ->expected(1, 1 << 20);
  app->add_option("--seconds", args->coverage.seconds,
                  "with --coverage: how long to profile a model (1)")
      ->check(CLI::Range(0.0, 86400.0));
  app->add_flag("--counts-only", args->counts_only, "with --coverage: do not run the models");
  app->add_option("--threads", args->coverage.threads, "with --coverage: threads for one op")
      ->check(CLI::Range(1, 1024));
  return {app, [args] { return Ops(*args); }};
}

}  // namespace tenon
