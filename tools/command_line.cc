#include "tools/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tools/command.h"

namespace tenon {
namespace {

void Complain(absl::string_view message) {
  const std::string line = absl::StrReplaceAll(message, {{"\n", " "}});
  std::fprintf(stderr, "tenon: %s\n", line.c_str());
}

}  // namespace

int CommandLine(int argc, char** argv) {
  CLI::App app("Runs TensorFlow models on CPUs with oneDNN.", "tenon");
  app.set_version_flag("--version", "tenon " TENON_VERSION);
  app.require_subcommand(1);
  const std::vector<Command> commands = {
      AddRunCommand(app),     AddGenerateCommand(app), AddBenchCommand(app),
      AddDumpCommand(app),    AddExplainCommand(app),  AddExploreCommand(app),
      AddOpsCommand(app),     AddRulesCommand(app),    AddEnvCommand(app),
      AddExportCommand(app),  AddQuantizeCommand(app), AddCacheCommand(app),
      AddDevicesCommand(app), AddServeCommand(app),
  };
  const auto named = [&](const Command& c) { return c.app->check_name(argv[1]); };
  if (argc > 1 && argv[1][0] != '-' && std::none_of(commands.begin(), commands.end(), named)) {
    Complain(absl::StrCat("there is no command '", argv[1], "' (tenon --help)"));
    return 2;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    Complain(std::string(error.what()) + " (tenon --help)");
    return 2;
  }
  for (const Command& command : commands) {
    if (!command.app->parsed()) continue;
    const absl::Status status = command.run();
    // Output must have been written: a full disk is an error too.
    if (status.ok() && std::fflush(stdout) == 0) return 0;
    Complain(status.ok() ? "standard output cannot be written" : status.message());
    return 1;
  }
  return 2;
}

}  // namespace tenon
