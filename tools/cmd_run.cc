// tenon run: one execution, from npz to npz or to a summary.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "env/status.h"
#include "tools/command.h"
#include "tools/eager_model.h"
#include "tools/model_args.h"
#include "tools/npz.h"
#include "tools/tensor_text.h"

namespace tenon {
namespace {

struct RunArgs {
  ModelArgs model;
  std::string inputs, outputs;
  bool eager = false;
};

absl::StatusOr<std::vector<NamedTensor>> RunModel(const RunArgs& args,
                                                  absl::Span<const NamedTensor> inputs) {
  if (!args.eager) {
    TENON_ASSIGN_OR_RETURN(OpenedSession opened, OpenSession(args.model));
    return opened.session->Run(inputs);
  }
  SessionOptions options;
  options.threads = args.model.threads;
  TENON_ASSIGN_OR_RETURN(Model loaded, OpenModel(args.model));
  TENON_ASSIGN_OR_RETURN(const std::unique_ptr<EagerModel> model,
                         EagerModel::Create(std::move(loaded.graph), options));
  return model->Run(inputs);
}

absl::Status Run(const RunArgs& args) {
  std::vector<NamedTensor> inputs;
  if (!args.inputs.empty()) {
    TENON_ASSIGN_OR_RETURN(inputs, ReadNpz(args.inputs));
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<NamedTensor> outputs, RunModel(args, inputs));
  if (!args.outputs.empty()) return WriteNpz(args.outputs, outputs);
  for (const auto& [name, tensor] : outputs) {
    std::printf("%s\n", DescribeTensor(name, tensor).c_str());
  }
  return absl::OkStatus();
}

}  // namespace

Command AddRunCommand(CLI::App& parent) {
  auto args = std::make_shared<RunArgs>();
  CLI::App* app = parent.add_subcommand("run", "Runs a model once");
  AddModelArgs(*app, args->model);
  AddThreadsArg(*app, args->model);
  app->add_option("--inputs", args->inputs,
                  ".npz with the inputs: the signature's names, or tensor names for a GraphDef");
  app->add_option("--outputs", args->outputs, ".npz to write; without it a summary is printed");
  app->add_flag("--eager", args->eager,
                "one eager call per node; no graph is rewritten or planned");
  return {app, [args] { return Run(*args); }};
}

}  // namespace tenon
