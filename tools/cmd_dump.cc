// tenon dump: prints the graph before and after each phase, the changes of each rule, or counts.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "env/status.h"
#include "graph/text.h"
#include "proto/export/export.h"
#include "tools/command.h"
#include "tools/dot.h"
#include "tools/rewrite_args.h"
#include "tools/table.h"

namespace tenon {
namespace {

constexpr int64_t kShownElements = 16;

struct DumpArgs {
  ModelArgs model;
  std::string phase;  // empty: not given
  std::string format = "text";
  bool steps = false;
  bool stats = false;
  bool markdown = false;
};

absl::StatusOr<std::string> GraphText(const Graph& graph, const std::string& format) {
  if (format == "dot") return DotText(graph);
  if (format == "pbtxt") {
    ExportOptions options;
    options.format = GraphFormat::kText;
    options.allow_private = true;  // for inspection
    return GraphDefText(graph, options);
  }
  PrintOptions options;
  options.max_elements = kShownElements;
  return PrintGraph(graph, options);
}

void PrintSteps(const RewriteReport& report) {
  for (const PhaseReport& phase : report.phases) {
    for (const RewriteStep& step : phase.steps) {
      std::printf("=== %s %s at %s\n%s\n", Name(phase.phase), step.rule.c_str(), step.node.c_str(),
                  absl::StrJoin(step.diff, "\n").c_str());
    }
  }
}

// The snapshots ("loaded", then the phases) that `--phase` selects.
class Shown {
 public:
  static absl::StatusOr<Shown> From(const DumpArgs& args) {
    Shown shown;
    shown.phase_ = args.phase;
    if (args.phase.empty()) {
      if (args.steps || args.stats) {
        shown.phase_ = "none";
      } else {
        // These formats are for other programs: one graph, the final one.
        shown.phase_ = args.format == "text" ? "all" : Name(Phase::kRename);
      }
    } else if (args.phase != "all" && args.phase != "loaded") {
      TENON_RETURN_IF_ERROR(PhaseFromName(args.phase).status());
    }
    shown.before_ = args.format == "text";
    return shown;
  }
  bool Wants(absl::string_view name, absl::string_view next) const {
    return phase_ == "all" || phase_ == name || (before_ && phase_ == next);
  }
  bool none() const { return phase_ == "none"; }

 private:
  std::string phase_;
  bool before_ = true;
};

struct Snapshot {
  std::string name;
  Graph graph;  // shares its tensors
};

absl::Status PrintGraphs(const Shown& shown, const std::vector<Snapshot>& snapshots,
                         const std::string& format) {
  for (size_t i = 0; i < snapshots.size(); ++i) {
    const bool last = i + 1 == snapshots.size();
    const std::string next = last ? "" : snapshots[i + 1].name;
    // With the gate off there are no phases: every phase shows the graph as loaded.
    if (!shown.Wants(snapshots[i].name, next) && snapshots.size() > 1) continue;
    TENON_ASSIGN_OR_RETURN(const std::string text, GraphText(snapshots[i].graph, format));
    if (format == "text") {
      std::printf("# ---- %s%s\n", i == 0 ? "" : "after ", snapshots[i].name.c_str());
    }
    std::printf("%s%s", text.c_str(), format == "text" ? "\n" : "");
  }
  return absl::OkStatus();
}

absl::Status Dump(const DumpArgs& args) {
  TENON_ASSIGN_OR_RETURN(const Shown shown, Shown::From(args));
  TENON_ASSIGN_OR_RETURN(const std::unique_ptr<RewriteServices> services,
                         RewriteServices::Create());
  TENON_ASSIGN_OR_RETURN(Model model, OpenModel(args.model, /*allow_missing_ops=*/true));

  std::vector<Snapshot> snapshots;
  RewriteOptions options = services->options();
  options.record_steps = args.steps;
  options.precision = PrecisionOf(args.model);
  if (!shown.none()) {
    snapshots.push_back({"loaded", model.graph});
    options.dump = [&](absl::string_view phase, const Graph& graph) {
      if (phase != "loaded") snapshots.push_back({std::string(phase), graph});
    };
  }
  TENON_ASSIGN_OR_RETURN(const RewriteReport report, Rewrite(model.graph, options));
  TENON_RETURN_IF_ERROR(PrintGraphs(shown, snapshots, args.format));
  if (args.steps) PrintSteps(report);
  if (args.stats) {
    const StatsFormat format = args.markdown ? StatsFormat::kMarkdown : StatsFormat::kText;
    std::printf("%s", StatsText(model.graph, report, format).c_str());
  }
  return absl::OkStatus();
}

}  // namespace

Command AddDumpCommand(CLI::App& parent) {
  auto args = std::make_shared<DumpArgs>();
  CLI::App* app = parent.add_subcommand("dump", "Shows the graph and how rewriting changed it");
  AddModelArgs(*app, args->model);
  AddPrecisionArg(*app, args->model);
  app->add_option("--phase", args->phase, "all (default), loaded, clean, fold, fuse or rename");
  app->add_flag("--steps", args->steps, "print a diff for each rule that fired");
  app->add_flag("--stats", args->stats,
                "print how often rules fired, ops before and after, and ops left unaccelerated");
  AddMarkdownArg(*app, args->markdown);
  app->add_option("--format", args->format, "text, pbtxt or dot")
      ->check(CLI::IsMember({"text", "pbtxt", "dot"}));
  return {app, [args] { return Dump(*args); }};
}

}  // namespace tenon
