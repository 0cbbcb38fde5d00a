// tenon: loads TensorFlow models, rewrites them, shows why, runs them.
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "env/openmp.h"
#include "tools/command_line.h"

namespace {

// Under its own path, so that lists of processes show its own name.
void StartAgain(char** argv) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) execv(self.c_str(), argv);
}

}  // namespace

int main(int argc, char** argv) {
  // If it cannot restart, this process continues, with threads that spin for long.
  if (tenon::SetShortSpin(/*many_teams=*/false)) StartAgain(argv);
  return tenon::CommandLine(argc, argv);
}
