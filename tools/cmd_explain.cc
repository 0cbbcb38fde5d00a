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
#include "tools/explore_args.h"
#include "tools/progress.h"

namespace tenon {
namespace {

constexpr int kWidth = 100;  // if standard output is no terminal

struct ExplainArgs : ExploreArgs {
  std::vector<std::string> nodes;
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
    const bool is_short =
        e.story.loaded().FindNode(name) == nullptr && e.story.loaded().FindNode(full) != nullptr;
    if (!is_short && !FindAnywhere(e.story.loaded(), name).has_value()) {
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
  const bool stories = !args.nodes.empty();
  if (!stories && !args.no_profile) wanted.seconds = args.seconds;
  wanted.weights = args.json;
  TENON_ASSIGN_OR_RETURN(const Exploration e,
                         ExploreWith(args, model, flags, !stories, wanted, progress));
  const ScreenStyle style{TerminalWidth(kWidth), HasColors()};
  if (stories && !args.json) {
    TENON_ASSIGN_OR_RETURN(const std::vector<std::string> names, FullNames(e, args.nodes));
    TENON_ASSIGN_OR_RETURN(const std::vector<NodeExplanation> told, Explain(e.story, names));
    progress.Clear();
    std::printf("%s", NodeStories(told, e, style).c_str());
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(const Machine machine, MachineOf(e, flags, progress));
  progress.Clear();
  if (args.json) {
    using Json = nlohmann::ordered_json;
    std::printf("%s\n", ExplorationJson(model, e, machine)
                            .dump(-1, ' ', false, Json::error_handler_t::replace)
                            .c_str());
    return absl::OkStatus();
  }
  std::printf("%s", ExplainScreen(model, e, machine, AssumedLengths(e, args), style).c_str());
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
  AddExploreArgs(*app, *args);
  app->add_flag("--no-profile", args->no_profile, "do not run the model");
  app->add_flag("--json", args->json, "print everything as one JSON object (tenon.explore)");
  return {app, [args] { return ExplainModel(*args); }};
}

}  // namespace tenon
