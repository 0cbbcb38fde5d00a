// tenon rules, tenon env: print the rules, and the environment variables.
#include <CLI/CLI.hpp>
#include <memory>

#include "absl/strings/str_join.h"
#include "env/flags.h"
#include "env/status.h"
#include "graph_rewrite/rule.h"
#include "tools/command.h"
#include "tools/table.h"

namespace tenon {
namespace {

struct TableArgs {
  bool markdown = false;
};

absl::Status PrintRules(const TableArgs& args) {
  Table table({"phase", "rule", "after", "starts at", "what it does"});
  for (const Rule& rule : AllRules()) {
    table.Add({Name(rule.phase), rule.name, rule.after, absl::StrJoin(AnchorOps(rule), " "),
               rule.doc == nullptr ? "" : rule.doc});
  }
  Print(table, args.markdown);
  return absl::OkStatus();
}

absl::Status PrintEnv(const TableArgs& args) {
  // The reference page must not depend on the current environment.
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

using TablePrinter = absl::Status (*)(const TableArgs&);

Command Add(CLI::App& parent, const char* name, const char* doc, TablePrinter print) {
  auto args = std::make_shared<TableArgs>();
  CLI::App* app = parent.add_subcommand(name, doc);
  AddMarkdownArg(*app, args->markdown);
  return {app, [args, print] { return print(*args); }};
}

}  // namespace

Command AddRulesCommand(CLI::App& parent) {
  return Add(parent, "rules", "Lists the rewrite rules", PrintRules);
}
Command AddEnvCommand(CLI::App& parent) {
  return Add(parent, "env", "Lists the environment variables and their values", PrintEnv);
}

}  // namespace tenon
