// tenon explain: what runs where and why, what almost fused, what to try; or the story of nodes.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "absl/strings/str_cat.h"
#include "env/flags.h"
#include "env/status.h"
#include "env/terminal.h"
#include "runtime/explore/exploration_json.h"
#include "tools/command.h"
#include "tools/explain_screen.h"
#include "tools/model_args.h"
#include "tools/progress.h"
#include "tools/random_inputs.h"

namespace tenon {
namespace {

constexpr int kWidth = 100;  // if standard output is no terminal

struct ExplainArgs {
  ModelArgs model;
  std::vector<std::string> nodes;
  std::string inputs;
  std::vector<std::string> shapes;
  int64_t batch = 1;
  double seconds = 0.5;
  bool no_profile = false;
  bool json = false;
};

// The names as given, or without the scopes that all nodes share.
absl::StatusOr<std::vector<std::string>> FullNames(const Exploration& e,
                                                   const std::vector<std::string>& given) {
  const ShortNames shorten = e.short_names();
  std::vector<std::string> names;
  for (const std::string& name : given) {
    const std::string full = absl::StrCat(shorten.prefix(), name);
    const bool is_short = e.story.loaded().FindNode(name) == nullptr;
    if (is_short && e.story.loaded().FindNode(full) == nullptr) {
      return NotFound("no node is named '", name, "'");
    }
    names.push_back(is_short ? full : name);
  }
  return names;
}

absl::Status ExplainModel(const ExplainArgs& args) {
  TENON_ASSIGN_OR_RETURN(const Flags flags, Flags::FromEnvironment());
  TENON_ASSIGN_OR_RETURN(const Model model, OpenModel(args.model, /*allow_missing_ops=*/true));
  if (!flags.onednn_opts && !args.json) {
    std::printf("TF_ENABLE_ONEDNN_OPTS is off: no rule is tried.\n");
    return absl::OkStatus();
  }
  Progress progress;
  ExploreOptions wanted;
  wanted.progress = [&](const char* what, double part) { progress.Show(what, part); };
  const bool stories = !args.nodes.empty();
  if (!stories) {
    wanted.inputs = [&](const Session& session) {
      return InputsFor(session, args.inputs, args.shapes, args.batch);
    };
    if (!args.no_profile) wanted.seconds = args.seconds;
  }
  SessionOptions options;
  options.flags = flags;
  options.threads = args.model.threads;
  options.precision = PrecisionOf(args.model);
  options.plugins = args.model.plugins;
  options.device = args.model.device;
  TENON_ASSIGN_OR_RETURN(const Exploration e, Explore(model, options, wanted));
  const ScreenStyle style{TerminalWidth(kWidth), HasColors()};
  if (stories && !args.json) {
    TENON_ASSIGN_OR_RETURN(const std::vector<std::string> names, FullNames(e, args.nodes));
    TENON_ASSIGN_OR_RETURN(const std::vector<NodeExplanation> told, Explain(e.story, names));
    progress.Clear();
    std::printf("%s", NodeStories(told, e, style).c_str());
    return absl::OkStatus();
  }
  MachinePeak peak;
  if (e.runs > 0) {
    progress.Show("measuring the machine", 0.5);
    TENON_ASSIGN_OR_RETURN(peak, PeakOf(e.threads, e.precision, PeakFolder(flags)));
  }
  const Machine machine = ThisMachine(peak);
  progress.Clear();
  if (args.json) {
    using Json = nlohmann::ordered_json;
    std::printf("%s\n", ExplorationJson(model, e, machine)
                            .dump(-1, ' ', false, Json::error_handler_t::replace)
                            .c_str());
    return absl::OkStatus();
  }
  std::printf("%s", ExplainScreen(model, e, machine, style).c_str());
  return absl::OkStatus();
}

}  // namespace

Command AddExplainCommand(CLI::App& parent) {
  auto args = std::make_shared<ExplainArgs>();
  CLI::App* app = parent.add_subcommand(
      "explain", "Shows what runs where and why, what almost fused, and what to try");
  AddModelArgs(*app, args->model);
  AddSessionArgs(*app, args->model);
  app->add_option("NODE", args->nodes,
                  "nodes of the model as loaded: the story of each, phase by phase");
  app->add_option("--inputs", args->inputs, ".npz with the inputs; by default, seeded random ones");
  app->add_option("--batch", args->batch, "size of an unknown first dimension (1)")
      ->check(CLI::Range(1, 1 << 30));
  app->add_option("--shape", args->shapes, "shape of a random input: NAME=1,224,224,3")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app->add_option("--seconds", args->seconds, "how long to measure (0.5)")
      ->check(CLI::Range(0.0, 86400.0));
  app->add_flag("--no-profile", args->no_profile, "do not run the model");
  app->add_flag("--json", args->json, "print everything as one JSON object (tenon.explore)");
  return {app, [args] { return ExplainModel(*args); }};
}

}  // namespace tenon
