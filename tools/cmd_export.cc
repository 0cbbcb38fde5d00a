// tenon export: writes the rewritten graph to a GraphDef file.
#include <CLI/CLI.hpp>
#include <memory>

#include "absl/strings/match.h"
#include "env/status.h"
#include "proto/export/export.h"
#include "tools/command.h"
#include "tools/rewrite_args.h"

namespace tenon {
namespace {

struct ExportArgs {
  ModelArgs model;
  std::string output;
  bool allow_private = false;
  bool plain = false;
};

absl::Status Export(const ExportArgs& args) {
  TENON_ASSIGN_OR_RETURN(const std::unique_ptr<RewriteServices> services,
                         RewriteServices::Create());
  TENON_ASSIGN_OR_RETURN(Model model, OpenModel(args.model, /*allow_missing_ops=*/true));
  if (!args.plain) {
    TENON_RETURN_IF_ERROR(Rewrite(model.graph, services->options()).status());
  }
  ExportOptions options;
  options.format =
      absl::EndsWith(args.output, ".pbtxt") ? GraphFormat::kText : GraphFormat::kBinary;
  options.allow_private = args.allow_private;
  const absl::Status status = ExportGraph(model.graph, args.output, options);
  if (!absl::IsFailedPrecondition(status)) return status;
  return Annotate(status, "use --private to inspect it, or --plain for the graph as loaded");
}

}  // namespace

Command AddExportCommand(CLI::App& parent) {
  auto args = std::make_shared<ExportArgs>();
  CLI::App* app = parent.add_subcommand("export", "Writes the rewritten graph as a GraphDef");
  AddModelArgs(*app, args->model);
  app->add_option("OUTPUT,--output", args->output, "file to write: .pb, or .pbtxt for text")
      ->required();
  app->add_flag("--private", args->allow_private,
                "allow ops that exist only in Tenon, for inspection");
  app->add_flag("--plain", args->plain, "the graph as loaded: frozen, inlined, not rewritten");
  return {app, [args] { return Export(*args); }};
}

}  // namespace tenon
