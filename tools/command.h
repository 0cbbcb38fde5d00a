// A subcommand of the command line: cmd_<name>.cc adds it with its options, and returns the
// function to run after parsing.
#ifndef TENON_TOOLS_COMMAND_H_
#define TENON_TOOLS_COMMAND_H_

#include <functional>

#include "absl/status/status.h"

namespace CLI {
class App;
}

namespace tenon {

struct Command {
  CLI::App* app = nullptr;
  std::function<absl::Status()> run;
};

Command AddRunCommand(CLI::App& parent);
Command AddGenerateCommand(CLI::App& parent);
Command AddBenchCommand(CLI::App& parent);
Command AddDumpCommand(CLI::App& parent);
Command AddExplainCommand(CLI::App& parent);
Command AddExploreCommand(CLI::App& parent);
Command AddOpsCommand(CLI::App& parent);
Command AddRulesCommand(CLI::App& parent);
Command AddEnvCommand(CLI::App& parent);
Command AddDevicesCommand(CLI::App& parent);
Command AddExportCommand(CLI::App& parent);
Command AddQuantizeCommand(CLI::App& parent);
Command AddCacheCommand(CLI::App& parent);
Command AddServeCommand(CLI::App& parent);

}  // namespace tenon

#endif  // TENON_TOOLS_COMMAND_H_
