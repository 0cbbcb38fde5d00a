// tenon serve: becomes the model server, a program of its own (tools/serve).
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "env/status.h"
#include "tools/command.h"

namespace tenon {
namespace {

constexpr char kServer[] = "tensorflow_model_server";

absl::Status ExecServer(std::vector<std::string> args) {
  const bool bound = std::any_of(args.begin(), args.end(), [](const std::string& arg) {
    return absl::StartsWith(arg, "--bind_address");
  });
  // Under TensorFlow Serving's name, it listens to every address, as manifests expect.
  if (!bound) args.push_back("--bind_address=127.0.0.1");
  std::vector<char*> argv;
  args.insert(args.begin(), kServer);
  for (std::string& arg : args) argv.push_back(arg.data());
  argv.push_back(nullptr);
  // The one beside this program, otherwise the one in PATH.
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) execv((self.parent_path() / kServer).c_str(), argv.data());
  execvp(kServer, argv.data());
  if (errno != ENOENT) return Internal(kServer, " cannot be started: ", std::strerror(errno));
  return NotFound(
      kServer, " is not installed (from the sources: cmake --build build --target tenon_server)");
}

}  // namespace

Command AddServeCommand(CLI::App& parent) {
  CLI::App* app = parent.add_subcommand(
      "serve", "Serve models as TensorFlow Serving does, on localhost (docs/SERVING.md)");
  app->prefix_command();  // every argument is the server's
  app->set_help_flag();
  return {app, [app] {
            std::vector<std::string> args = app->remaining();
            return ExecServer(std::move(args));
          }};
}

}  // namespace tenon
