// Runs flat plans.
#include <algorithm>
#include <chrono>

#include "env/status.h"
#include "graph/object.h"
#include "runtime/execution/execution.h"
#include "runtime/execution/flat_plan.h"

namespace tenon {
namespace {

absl::Status MakeTensors(const FlatPlan& plan, ExecState& state) {
  for (const TensorSpec& spec : plan.strings) {
    TENON_ASSIGN_OR_RETURN(Tensor t, Tensor::Allocate(spec.dtype, spec.shape));
    state.strings.push_back(std::move(t));
  }
  state.dynamic.resize(static_cast<size_t>(plan.num_dynamic));
  state.pointers.resize(plan.pointers.size());
  return absl::OkStatus();
}

void Bind(const FlatPlan& plan, ExecState& state) {
  for (size_t i = 0; i < plan.pointers.size(); ++i) {
    const int pointer = plan.pointers[i];
    state.pointers[i] = pointer < 0
                            ? nullptr
                            : FixedAddress(plan, state, plan.buffers[static_cast<size_t>(pointer)]);
  }
  state.bound_to = state.arena.data();
}

absl::Status AtNode(const FlatPlan& plan, const FlatStep& step, const absl::Status& status) {
  const Node& node = plan.graph->node(step.node);
  return Annotate(status, NodeLabel(node));
}

void Release(const FlatPlan& plan, const FlatStep& step, ExecState& state) {
  for (int i = step.release_begin; i < step.release_end; ++i) {
    state.dynamic[static_cast<size_t>(plan.releases[static_cast<size_t>(i)])] = Tensor();
  }
}

inline absl::Status RunStep(const FlatPlan& plan, const FlatStep& step, Execution& run) {
  if (step.kernel != nullptr) {
    void** const pointers = run.state.pointers.data();
    RunContext context(pointers + step.inputs, pointers + step.outputs, pointers[step.scratch]);
    if (absl::Status status = step.kernel->Run(context); !status.ok()) {
      return AtNode(plan, step, status);
    }
  } else if (absl::Status status = step.step->Run(run); !status.ok()) {
    return AtNode(plan, step, status);
  }
  if (step.release_begin != step.release_end) Release(plan, step, run.state);
  return absl::OkStatus();
}

absl::Status RunSteps(const FlatPlan& plan, Execution& run) {
  for (const FlatStep& step : plan.steps) {
    TENON_RETURN_IF_ERROR(RunStep(plan, step, run));
  }
  return absl::OkStatus();
}

absl::Status RunStepsObserved(const FlatPlan& plan, Execution& run, StepObserver& observer) {
  using Clock = std::chrono::steady_clock;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const FlatStep& step = plan.steps[i];
    const Clock::time_point start = Clock::now();
    TENON_RETURN_IF_ERROR(RunStep(plan, step, run));
    observer.OnStep(static_cast<int>(i), (Clock::now() - start) / std::chrono::nanoseconds(1));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Tensor>> CollectOutputs(const FlatPlan& plan, Execution& run) {
  std::vector<Tensor> outputs;
  outputs.reserve(plan.outputs.size());
  std::vector<bool> given(run.outputs.size(), false);
  for (const PlanOutput& output : plan.outputs) {
    const Buffer& buffer = plan.buffers[static_cast<size_t>(output.buffer)];
    const size_t index = static_cast<size_t>(buffer.index);
    if (buffer.kind == Buffer::Kind::kOutput && !given[index] &&
        run.outputs[index].shape() == output.shape) {
      given[index] = true;
      outputs.push_back(run.outputs[index]);
      continue;
    }
    if (buffer.kind == Buffer::Kind::kDynamic && run.state.dynamic[index].OwnsAlone()) {
      outputs.push_back(std::move(run.state.dynamic[index]));
      run.state.dynamic[index] = outputs.back();  // a second name for it gets a copy
      continue;
    }
    // A second name for the same tensor, an input passed through, and a constant each get a copy.
    TENON_ASSIGN_OR_RETURN(Tensor view, run.View({output.buffer, output.dtype, output.shape}));
    TENON_ASSIGN_OR_RETURN(Tensor copy, view.Clone());
    outputs.push_back(std::move(copy));
  }
  return outputs;
}

// Outputs that need no memory of their own.
absl::StatusOr<std::vector<Tensor>> ShareOutputs(const FlatPlan& plan, Execution& run) {
  std::vector<Tensor> outputs;
  outputs.reserve(plan.outputs.size());
  for (const PlanOutput& output : plan.outputs) {
    const Buffer& buffer = plan.buffers[static_cast<size_t>(output.buffer)];
    Tensor t;
    if (buffer.kind == Buffer::Kind::kConstant) {
      const Tensor& constant = plan.constants[static_cast<size_t>(buffer.index)];
      TENON_ASSIGN_OR_RETURN(t, constant.Reshaped(output.shape));
    } else {
      TENON_ASSIGN_OR_RETURN(t, run.View({output.buffer, output.dtype, output.shape}));
    }
    outputs.push_back(std::move(t));
  }
  return outputs;
}

absl::StatusOr<std::vector<Tensor>> RunWith(const FlatPlan& plan, ExecState& state,
                                            absl::Span<const Tensor> feeds, StepObserver* observer,
                                            bool share) {
  Execution run(plan, state, feeds);
  run.outputs.reserve(plan.owned_outputs.size());
  for (const TensorSpec& spec : plan.owned_outputs) {
    TENON_ASSIGN_OR_RETURN(Tensor t, Tensor::Allocate(spec.dtype, spec.shape));
    run.outputs.push_back(std::move(t));
  }
  for (const PointerPatch& p : plan.feed_pointers) {
    // Kernels only read from input positions.
    state.pointers[static_cast<size_t>(p.position)] =
        const_cast<void*>(feeds[static_cast<size_t>(p.index)].raw());
  }
  for (const PointerPatch& p : plan.output_pointers) {
    state.pointers[static_cast<size_t>(p.position)] =
        run.outputs[static_cast<size_t>(p.index)].raw();
  }
  TENON_RETURN_IF_ERROR(observer == nullptr ? RunSteps(plan, run)
                                            : RunStepsObserved(plan, run, *observer));
  return share ? ShareOutputs(plan, run) : CollectOutputs(plan, run);
}

absl::StatusOr<std::vector<Tensor>> RunFlat(const FlatPlan& plan, absl::Span<const Tensor> feeds,
                                            StepObserver* observer, bool share) {
  TENON_ASSIGN_OR_RETURN(std::unique_ptr<ExecState> state, plan.states->Take());
  if (state->bound_to == nullptr) TENON_RETURN_IF_ERROR(MakeTensors(plan, *state));
  // Usually it is the arena of the previous run.
  if (state->bound_to != state->arena.data()) Bind(plan, *state);
  absl::StatusOr<std::vector<Tensor>> outputs = RunWith(plan, *state, feeds, observer, share);
  for (Tensor& t : state->dynamic) t = Tensor();
  for (const auto& stream : state->streams) {
    // Pending work on devices belongs to this run, and so do its errors.
    if (absl::Status done = stream->Synchronize(); !done.ok() && outputs.ok()) {
      outputs = Annotate(done, absl::StrCat("device ", stream->device().name()));
    }
  }
  for (Tensor& t : state->strings) {
    if (HoldsObjects(t.dtype())) std::fill_n(t.data<ObjectPtr>(), t.num_elements(), nullptr);
  }
  plan.states->Give(std::move(state));
  return outputs;
}

}  // namespace

absl::StatusOr<std::vector<Tensor>> FlatPlan::DoRun(absl::Span<const Tensor> feeds,
                                                    StepObserver* observer) const {
  return RunFlat(*this, feeds, observer, /*share=*/false);
}

absl::StatusOr<std::vector<Tensor>> FlatPlan::RunShared(absl::Span<const Tensor> feeds) const {
  return RunFlat(*this, feeds, nullptr, /*share=*/true);
}

}  // namespace tenon
