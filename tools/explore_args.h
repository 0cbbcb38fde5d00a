// Options of the commands that explore models (explain, explore), and what they have in common.
#ifndef TENON_TOOLS_EXPLORE_ARGS_H_
#define TENON_TOOLS_EXPLORE_ARGS_H_

#include <string>
#include <vector>

#include "env/flags.h"
#include "runtime/explore/advice.h"
#include "runtime/explore/exploration.h"
#include "tools/model_args.h"
#include "tools/progress.h"

namespace tenon {

struct ExploreArgs {
  ModelArgs model;
  std::string inputs;  // a file; empty: random ones
  std::vector<std::string> shapes;
  int64_t batch = 1;
  double seconds = 0.5;
};
// --inputs, --batch, --shape and --seconds; ModelArgs have functions of their own.
void AddExploreArgs(CLI::App& app, ExploreArgs& args);

// Explores the model; if `planned`, with inputs as the arguments say.
absl::StatusOr<Exploration> ExploreWith(const ExploreArgs& args, const Model& model,
                                        const Flags& flags, bool planned, ExploreOptions wanted,
                                        Progress& progress);
// What was assumed of lengths that neither the model nor the arguments say, with the option that
// says them; empty if there are none. A first dimension alone is a batch of one, and no assumption.
std::string AssumedLengths(const Exploration& e, const ExploreArgs& args);

// The machine that it ran on, with its peak if it ran.
absl::StatusOr<Machine> MachineOf(const Exploration& e, const Flags& flags, Progress& progress);

}  // namespace tenon

#endif  // TENON_TOOLS_EXPLORE_ARGS_H_
