// tenon explain: shows which rules were tried at a node, and why they did not fire.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "env/status.h"
#include "graph_rewrite/explain.h"
#include "tools/command.h"
#include "tools/rewrite_args.h"

namespace tenon {
namespace {

struct ExplainArgs {
  ModelArgs model;
  std::vector<std::string> nodes;
};

absl::Status ExplainNodes(const ExplainArgs& args) {
  TENON_ASSIGN_OR_RETURN(const std::unique_ptr<RewriteServices> services,
                         RewriteServices::Create());
  TENON_ASSIGN_OR_RETURN(const Model model, OpenModel(args.model, /*allow_missing_ops=*/true));
  if (!services->flags().onednn_opts) {
    std::printf("TF_ENABLE_ONEDNN_OPTS is off: no rule is tried.\n");
    return absl::OkStatus();
  }
  RewriteOptions options = services->options();
  options.precision = PrecisionOf(args.model);
  TENON_ASSIGN_OR_RETURN(const std::vector<NodeExplanation> explanations,
                         Explain(model.graph, options, args.nodes));
  std::printf("%s", ExplainText(explanations).c_str());
  return absl::OkStatus();
}

}  // namespace

Command AddExplainCommand(CLI::App& parent) {
  auto args = std::make_shared<ExplainArgs>();
  CLI::App* app = parent.add_subcommand("explain", "Shows why rules did or did not fire at a node");
  AddModelArgs(*app, args->model);
  AddPrecisionArg(*app, args->model);
  app->add_option("NODE", args->nodes, "nodes of the model as loaded; default: every contraction");
  return {app, [args] { return ExplainNodes(*args); }};
}

}  // namespace tenon
