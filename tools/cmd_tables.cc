// tenon ops, tenon rules, tenon env: the tables of what exists.
#include <CLI/CLI.hpp>
#include <memory>

#include "absl/strings/str_join.h"
#include "env/flags.h"
#include "env/status.h"
#include "graph_rewrite/rule.h"
#include "ops/op.h"
#include "tools/command.h"
#include "tools/table.h"

namespace tenon {
namespace {

struct TableArgs {
  bool markdown = false;
  bool internal = false;
};

std::string DTypes(const OpInfo& op) {
  if (op.signature.types.empty()) return "";
  // The first type attribute of the signature is the one that decides the kernel.
  for (const AttrSpec& attr : op.signature.attrs) {
    const auto it = op.signature.types.find(attr.name);
    if (it == op.signature.types.end()) continue;
    return absl::StrJoin(it->second, " ",
                         [](std::string* out, DType d) { absl::StrAppend(out, Name(d)); });
  }
  return "";
}

absl::Status PrintOps(const TableArgs& args) {
  Table table({"op", "after rewriting", "accelerated for", "post-op", "standard kernel for"});
  for (const OpInfo* op : AllOps()) {
    const OpRow& row = op->row;
    if (row.internal && !args.internal) continue;
    const bool native = row.native != nullptr;
    std::string standard = row.reference == nullptr ? "" : DTypes(*op);
    if (row.alias) standard = absl::StrCat("(shares memory) ", standard);
    table.Add({row.name, native ? row.native : "", native ? row.native_types : "",
               row.post_op == PostOp::kNone ? "" : "yes", standard});
  }
  Print(table, args.markdown);
  return absl::OkStatus();
}

absl::Status PrintRules(const TableArgs& args) {
  Table table({"phase", "rule", "starts at", "what it does"});
  for (const Rule& rule : AllRules()) {
    table.Add({Name(rule.phase), rule.name, absl::StrJoin(AnchorOps(rule), " "),
               rule.doc == nullptr ? "" : rule.doc});
  }
  Print(table, args.markdown);
  return absl::OkStatus();
}

absl::Status PrintEnv(const TableArgs& args) {
  // The reference page must not depend on the environment that made it.
  Flags flags;
  if (!args.markdown) {
    TENON_ASSIGN_OR_RETURN(flags, Flags::FromEnvironment());
  }
  Table table(args.markdown
                  ? std::vector<std::string>{"variable", "default", "what it does"}
                  : std::vector<std::string>{"variable", "now", "default", "what it does"});
  for (const FlagRow& row : FlagTable()) {
    if (args.markdown) {
      table.Add({row.name, row.default_text, row.doc});
    } else {
      table.Add({row.name, FlagText(row, flags), row.default_text, row.doc});
    }
  }
  Print(table, args.markdown);
  return absl::OkStatus();
}

using PrintTable = absl::Status (*)(const TableArgs&);

Command Add(CLI::App& parent, const char* name, const char* doc, PrintTable print) {
  auto args = std::make_shared<TableArgs>();
  CLI::App* app = parent.add_subcommand(name, doc);
  AddMarkdownArg(*app, args->markdown);
  if (print == PrintOps) {
    app->add_flag("--internal", args->internal, "also the ops that only rewriting makes");
  }
  return {app, [args, print] { return print(*args); }};
}

}  // namespace

Command AddOpsCommand(CLI::App& parent) {
  return Add(parent, "ops", "Lists the ops that exist", PrintOps);
}
Command AddRulesCommand(CLI::App& parent) {
  return Add(parent, "rules", "Lists the rewrite rules", PrintRules);
}
Command AddEnvCommand(CLI::App& parent) {
  return Add(parent, "env", "Lists the environment variables and their values", PrintEnv);
}

}  // namespace tenon
