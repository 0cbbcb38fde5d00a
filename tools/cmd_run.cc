// tenon run: runs a model once or several times, from npz to npz or to a summary.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>

#include "env/status.h"
#include "graph/npz/npz.h"
#include "tools/command.h"
#include "tools/eager_model.h"
#include "tools/model_args.h"
#include "tools/tensor_text.h"

namespace tenon {
namespace {

struct RunArgs {
  ModelArgs model;
  std::string inputs, outputs, variables;
  int steps = 0;
  double timeout = 0;  // seconds; 0: none
  bool stacked = false, eager = false;
};

// Row `i` of the first dimension, wrapping around.
absl::StatusOr<Tensor> Row(const std::string& name, const Tensor& stacked, int64_t i) {
  if (stacked.shape().rank() < 1 || stacked.shape().dim(0) < 1) {
    return InvalidArgument("input '", name, "' is not stacked: it has shape ",
                           stacked.shape().ToString());
  }
  Shape shape;
  for (int d = 1; d < stacked.shape().rank(); ++d) shape.push_back(stacked.shape().dim(d));
  TENON_ASSIGN_OR_RETURN(Tensor row, Tensor::Allocate(stacked.dtype(), shape));
  const int64_t first = i % stacked.shape().dim(0) * row.num_elements();
  if (row.dtype() == DType::kString) {
    for (int64_t k = 0; k < row.num_elements(); ++k) {
      row.data<std::string>()[k] = stacked.data<std::string>()[first + k];
    }
  } else if (row.bytes() > 0) {
    const size_t offset = static_cast<size_t>(first) * SizeOf(row.dtype());
    std::memcpy(row.raw(), static_cast<const char*>(stacked.raw()) + offset, row.bytes());
  }
  return row;
}

// Stacks one output of all steps along a new first dimension.
absl::StatusOr<Tensor> Stack(const std::string& name, const std::vector<Tensor>& steps) {
  Shape shape({static_cast<int64_t>(steps.size())});
  for (int64_t d : steps[0].shape().dims()) shape.push_back(d);
  TENON_ASSIGN_OR_RETURN(Tensor out, Tensor::Allocate(steps[0].dtype(), shape));
  for (size_t i = 0; i < steps.size(); ++i) {
    const Tensor& step = steps[i];
    if (step.shape() != steps[0].shape()) {
      return InvalidArgument("output '", name, "' has shape ", step.shape().ToString(), " in step ",
                             i, ", ", steps[0].shape().ToString(), " in step 0");
    }
    if (step.dtype() == DType::kString) {
      for (int64_t k = 0; k < step.num_elements(); ++k) {
        const int64_t at = static_cast<int64_t>(i) * step.num_elements() + k;
        out.data<std::string>()[at] = step.data<std::string>()[k];
      }
    } else if (step.bytes() > 0) {
      std::memcpy(static_cast<char*>(out.raw()) + i * step.bytes(), step.raw(), step.bytes());
    }
  }
  return out;
}

absl::StatusOr<std::vector<NamedTensor>> RunOnce(const RunArgs& args, Session& session,
                                                 const std::vector<NamedTensor>& inputs, int step) {
  RunOptions options;
  if (args.timeout > 0) {
    using Clock = StopCondition::Clock;
    options.stop.deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                               std::chrono::duration<double>(args.timeout));
  }
  if (!args.stacked) return session.Run(inputs, options);
  std::vector<NamedTensor> rows;
  for (const auto& [name, tensor] : inputs) {
    TENON_ASSIGN_OR_RETURN(Tensor row, Row(name, tensor, step));
    rows.emplace_back(name, std::move(row));
  }
  return session.Run(rows, options);
}

absl::Status RunSteps(const RunArgs& args, Session& session,
                      const std::vector<NamedTensor>& inputs) {
  std::vector<std::string> names;
  std::vector<std::vector<Tensor>> collected;
  for (int step = 0; step < args.steps; ++step) {
    TENON_ASSIGN_OR_RETURN(std::vector<NamedTensor> outputs, RunOnce(args, session, inputs, step));
    if (args.outputs.empty()) std::printf("step %d\n", step);
    collected.resize(outputs.size());
    names.resize(outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i) {
      auto& [name, tensor] = outputs[i];
      if (args.outputs.empty()) std::printf("%s\n", DescribeTensor(name, tensor).c_str());
      names[i] = name;
      if (!args.outputs.empty()) collected[i].push_back(std::move(tensor));
    }
  }
  if (args.outputs.empty()) return absl::OkStatus();
  std::vector<NamedTensor> stacked;
  for (size_t i = 0; i < names.size(); ++i) {
    TENON_ASSIGN_OR_RETURN(Tensor all, Stack(names[i], collected[i]));
    stacked.emplace_back(names[i], std::move(all));
  }
  return WriteNpz(args.outputs, stacked);
}

absl::Status WriteVariables(const std::string& path, const Session& session) {
  std::vector<NamedTensor> variables;
  for (const std::string& name : session.VariableNames()) {
    absl::StatusOr<Tensor> value = session.ReadVariable(name);
    if (absl::IsFailedPrecondition(value.status())) continue;  // has no value yet
    if (!value.ok()) return value.status();
    variables.emplace_back(name, *std::move(value));
  }
  return WriteNpz(path, variables);
}

absl::Status GiveOutputs(const RunArgs& args, const std::vector<NamedTensor>& outputs) {
  if (!args.outputs.empty()) return WriteNpz(args.outputs, outputs);
  for (const auto& [name, tensor] : outputs) {
    std::printf("%s\n", DescribeTensor(name, tensor).c_str());
  }
  return absl::OkStatus();
}

absl::Status RunEager(const RunArgs& args, const std::vector<NamedTensor>& inputs) {
  SessionOptions options;
  options.threads = args.model.threads;
  TENON_ASSIGN_OR_RETURN(Model loaded, OpenModel(args.model));
  TENON_ASSIGN_OR_RETURN(const std::unique_ptr<EagerModel> model,
                         EagerModel::Create(std::move(loaded.graph), options));
  TENON_ASSIGN_OR_RETURN(const std::vector<NamedTensor> outputs, model->Run(inputs));
  return GiveOutputs(args, outputs);
}

// Opens the session with every tensor that `inputs` names as an input. Inner tensors cut the graph,
// which takes a second loading.
absl::StatusOr<OpenedSession> OpenFor(const std::vector<NamedTensor>& inputs, ModelArgs args) {
  TENON_ASSIGN_OR_RETURN(OpenedSession opened, OpenSession(args));
  for (const auto& [name, tensor] : inputs) {
    if (!opened.session->Takes(name)) args.feeds.push_back(name);
  }
  if (args.feeds.empty()) return opened;
  absl::StatusOr<OpenedSession> cut = OpenSession(args);
  if (cut.ok()) return cut;
  TENON_RETURN_IF_ERROR(opened.session->Arrange(inputs).status());  // names what is not an input
  return cut.status();
}

absl::Status Run(const RunArgs& args) {
  std::vector<NamedTensor> inputs;
  if (!args.inputs.empty()) {
    TENON_ASSIGN_OR_RETURN(inputs, ReadNpz(args.inputs));
  }
  if (args.eager) return RunEager(args, inputs);
  TENON_ASSIGN_OR_RETURN(OpenedSession opened, OpenFor(inputs, args.model));
  if (args.steps > 0) {
    TENON_RETURN_IF_ERROR(RunSteps(args, *opened.session, inputs));
  } else {
    TENON_ASSIGN_OR_RETURN(const std::vector<NamedTensor> outputs,
                           RunOnce(args, *opened.session, inputs, 0));
    TENON_RETURN_IF_ERROR(GiveOutputs(args, outputs));
  }
  NoteFallbacks(*opened.session);
  if (args.variables.empty()) return absl::OkStatus();
  return WriteVariables(args.variables, *opened.session);
}

}  // namespace

Command AddRunCommand(CLI::App& parent) {
  auto args = std::make_shared<RunArgs>();
  CLI::App* app = parent.add_subcommand("run", "Runs a model once or several times");
  AddModelArgs(*app, args->model);
  AddSessionArgs(*app, args->model);
  app->add_option("--inputs", args->inputs,
                  ".npz with the inputs: the signature's names, or tensor names for a GraphDef; "
                  "any tensor of the graph may be given, and cuts the graph there");
  app->add_option("--outputs", args->outputs, ".npz to write; by default, a summary is printed");
  app->add_option("--steps", args->steps,
                  "run this many times in one session, whose variables keep their values; "
                  "outputs get a first dimension for the step")
      ->check(CLI::Range(1, 1 << 30));
  app->add_flag("--stacked", args->stacked,
                "the first dimension of inputs is the step, wrapping around");
  app->add_option("--variables", args->variables,
                  ".npz to write with the variables that the model changes, after the last run");
  CLI::Option* timeout =
      app->add_option("--timeout", args->timeout,
                      "seconds that each run may take, its plan included; a longer one is an error")
          ->check(CLI::Range(1e-9, 1e9));
  CLI::Option* steps = app->get_option("--steps");
  app->add_flag("--eager", args->eager,
                "one eager call per node; without graph rewriting or planning")
      ->excludes(steps)
      ->excludes(timeout);
  return {app, [args] { return Run(*args); }};
}

}  // namespace tenon
