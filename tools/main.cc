// tenon: loads TensorFlow models, rewrites them, shows why, runs them. Exit status: 0; 1 after an
// error (one line on stderr); 2 for an invalid command line.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "env/openmp.h"
#include "tools/command.h"

namespace {

void Complain(absl::string_view message) {
  const std::string line = absl::StrReplaceAll(message, {{"\n", " "}});
  std::fprintf(stderr, "tenon: %s\n", line.c_str());
}

// Under its own path, so that lists of processes show its own name.
void StartAgain(char** argv) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) execv(self.c_str(), argv);
}

}  // namespace

int main(int argc, char** argv) {
  // If it cannot restart, this process continues, with threads that spin for long.
  if (tenon::SetShortSpin()) StartAgain(argv);
  CLI::App app("Runs TensorFlow models on CPUs with oneDNN.", "tenon");
  app.set_version_flag("--version", "tenon " TENON_VERSION);
  app.require_subcommand(1);
  const std::vector<tenon::Command> commands = {
      tenon::AddRunCommand(app),      tenon::AddGenerateCommand(app), tenon::AddBenchCommand(app),
      tenon::AddDumpCommand(app),     tenon::AddExplainCommand(app),  tenon::AddOpsCommand(app),
      tenon::AddRulesCommand(app),    tenon::AddEnvCommand(app),      tenon::AddExportCommand(app),
      tenon::AddQuantizeCommand(app), tenon::AddCacheCommand(app),    tenon::AddDevicesCommand(app),
  };
  const auto named = [&](const tenon::Command& c) { return c.app->check_name(argv[1]); };
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
  for (const tenon::Command& command : commands) {
    if (!command.app->parsed()) continue;
    const absl::Status status = command.run();
    // Output must have been written: a full disk is an error too.
    if (status.ok() && std::fflush(stdout) == 0) return 0;
    Complain(status.ok() ? "standard output cannot be written" : status.message());
    return 1;
  }
  return 2;
}
