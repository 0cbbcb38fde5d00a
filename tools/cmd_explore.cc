// tenon explore: the graph through all phases, as one HTML file to look at; of two models, side by
// side.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>

#include "absl/strings/str_cat.h"
#include "env/flags.h"
#include "env/status.h"
#include "runtime/explore/explore_page.h"
#include "runtime/explore/model_explorer.h"
#include "tools/command.h"
#include "tools/explore_args.h"
#include "tools/whole_file.h"

namespace tenon {
namespace {

struct PageArgs : ExploreArgs {
  std::string second;          // a model; empty: none, or the same
  std::string precision2;      // of the second
  std::string disable_rules2;  // likewise
  std::string output;
  std::string format = "html";
  bool profile = false;
};

struct Explored {
  Model model;
  Exploration exploration;
  Machine machine;
};

absl::StatusOr<Explored> ExploreOne(const PageArgs& args, const ModelArgs& of, const Flags& flags,
                                    Progress& progress) {
  ExploreArgs given = args;
  given.model = of;
  ExploreOptions wanted;
  wanted.weights = true;
  if (args.profile) wanted.seconds = args.seconds;
  Explored explored;
  TENON_ASSIGN_OR_RETURN(explored.model, OpenModel(of, /*allow_missing_ops=*/true));
  TENON_ASSIGN_OR_RETURN(explored.exploration, ExploreWith(given, explored.model, flags,
                                                           /*planned=*/true, wanted, progress));
  TENON_ASSIGN_OR_RETURN(explored.machine, MachineOf(explored.exploration, flags, progress));
  return explored;
}

std::string DefaultName(const std::vector<ExploredModel>& models) {
  std::string name = TitleOf(*models[0].model);
  if (models.size() == 2) {
    const std::string second = TitleOf(*models[1].model);
    absl::StrAppend(&name, "-", second == name ? "compared" : second);
  }
  return name;
}

absl::Status ExploreModels(const PageArgs& args) {
  TENON_ASSIGN_OR_RETURN(const Flags flags, Flags::FromEnvironment());
  Progress progress;
  TENON_ASSIGN_OR_RETURN(const Explored first, ExploreOne(args, args.model, flags, progress));
  std::vector<ExploredModel> models = {{&first.model, &first.exploration, first.machine}};

  std::optional<Explored> second;
  if (!args.second.empty() || !args.precision2.empty() || !args.disable_rules2.empty()) {
    ModelArgs of = args.model;
    if (!args.second.empty()) of.path = args.second;
    if (!args.precision2.empty()) of.precision = args.precision2;
    Flags flags2 = flags;
    if (!args.disable_rules2.empty()) {
      absl::StrAppend(&flags2.disabled_rules, flags2.disabled_rules.empty() ? "" : ",",
                      args.disable_rules2);
    }
    TENON_ASSIGN_OR_RETURN(second, ExploreOne(args, of, flags2, progress));
    models.push_back({&second->model, &second->exploration, second->machine});
  }
  for (const ExploredModel& m : models) {
    const absl::Status& planning = m.exploration->planning;
    if (const std::string note = AssumedLengths(*m.exploration, args); !note.empty()) {
      progress.Clear();
      std::fprintf(stderr, "%s: %s\n", m.model->source.c_str(), note.c_str());
    }
    if (planning.ok()) continue;
    progress.Clear();
    std::fprintf(stderr, "%s: no plan, so neither memory nor times: %s\n", m.model->source.c_str(),
                 std::string(planning.message()).c_str());
  }

  progress.Show("writing", 0.9);
  const bool page = args.format == "html";
  std::string text;
  if (page) {
    TENON_ASSIGN_OR_RETURN(text, ExplorePage(ExplorePageJson(models)));
  } else {
    using Json = nlohmann::ordered_json;
    text = ModelExplorerJson(models).dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  const std::string file = !args.output.empty()
                               ? args.output
                               : absl::StrCat(DefaultName(models), page ? ".html" : ".json");
  TENON_RETURN_IF_ERROR(WriteWholeFile(file, text));
  progress.Clear();
  std::printf("%s (%.1f MB)\n", file.c_str(), static_cast<double>(text.size()) / 1e6);
  return absl::OkStatus();
}

}  // namespace

Command AddExploreCommand(CLI::App& parent) {
  auto args = std::make_shared<PageArgs>();
  CLI::App* app = parent.add_subcommand(
      "explore", "Writes the graph, through all phases of rewriting, as a page to look at");
  AddModelArgs(*app, args->model);
  AddSessionArgs(*app, args->model);
  app->add_option("MODEL2", args->second, "another model, to compare with");
  app->add_option("-o,--output", args->output, "file to write (MODEL's name with .html)");
  AddExploreArgs(*app, *args);
  app->add_flag("--profile", args->profile, "run the model and measure each step");
  app->add_option("--precision2", args->precision2,
                  "--precision of the second model; without MODEL2, of the same one again")
      ->check(CLI::IsMember({"fp32", "bf16"}));
  app->add_option("--disable-rules2", args->disable_rules2,
                  "rules that the second one is rewritten without: NAME,NAME");
  app->add_option("--format", args->format,
                  "html: the page; model-explorer: JSON for Google's Model Explorer (html)")
      ->check(CLI::IsMember({"html", "model-explorer"}));
  return {app, [args] { return ExploreModels(*args); }};
}

}  // namespace tenon
