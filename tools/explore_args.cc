#include "tools/explore_args.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "env/status.h"
#include "tools/random_inputs.h"

namespace tenon {
void AddExploreArgs(CLI::App& app, ExploreArgs& args) {
  app.add_option("--inputs", args.inputs, ".npz with the inputs; by default, seeded random ones");
  app.add_option("--batch", args.batch, "size of an unknown first dimension (1)")
      ->check(CLI::Range(1, 1 << 30));
  app.add_option("--shape", args.shapes, "shape of a random input: NAME=1,224,224,3")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--seconds", args.seconds, "how long to measure (0.5)")
      ->check(CLI::Range(0.0, 86400.0));
}

absl::StatusOr<Exploration> ExploreWith(const ExploreArgs& args, const Model& model,
                                        const Flags& flags, bool planned, ExploreOptions wanted,
                                        Progress& progress) {
  wanted.progress = [&](const char* what, double part) { progress.Show(what, part); };
  if (planned) {
    wanted.inputs = [&](const Session& session) {
      return InputsFor(session, args.inputs, args.shapes, args.batch);
    };
  }
  SessionOptions options;
  options.flags = flags;
  options.threads = args.model.threads;
  options.precision = PrecisionOf(args.model);
  options.plugins = args.model.plugins;
  options.device = args.model.device;
  return Explore(model, options, wanted);
}

std::string AssumedLengths(const Exploration& e, const ExploreArgs& args) {
  if (e.session == nullptr || !args.inputs.empty()) return "";
  constexpr int kExample = 128;
  std::vector<std::string> options;
  for (const TensorInfo& in : e.session->inputs()) {
    const bool given = std::any_of(args.shapes.begin(), args.shapes.end(), [&](const auto& text) {
      return absl::StartsWith(text, absl::StrCat(in.name, "="));
    });
    if (given || !in.shape.has_rank()) continue;
    bool unknown = false;
    std::vector<int64_t> dims(in.shape.dims().begin(), in.shape.dims().end());
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] >= 0) continue;
      unknown |= i > 0;
      dims[i] = i > 0 ? kExample : args.batch;
    }
    if (unknown)
      options.push_back(absl::StrCat("--shape ", in.name, "=", absl::StrJoin(dims, ",")));
  }
  if (options.empty()) return "";
  return absl::StrCat("unknown lengths were taken as 1; to say what they are: ",
                      absl::StrJoin(options, " "));
}

absl::StatusOr<Machine> MachineOf(const Exploration& e, const Flags& flags, Progress& progress) {
  MachinePeak peak;
  if (e.runs > 0) {
    progress.Show("measuring the machine", 0.5);
    TENON_ASSIGN_OR_RETURN(peak, PeakOf(e.threads, e.precision, PeakFolder(flags)));
  }
  return ThisMachine(peak);
}

}  // namespace tenon
