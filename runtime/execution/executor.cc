#include "runtime/execution/executor.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "env/status.h"
#include "graph/object.h"
#include "runtime/execution/dynamic_step.h"

namespace tenon {
namespace {

absl::Status MakeTensors(const Plan& plan, ExecState& state) {
  for (const TensorSpec& spec : plan.strings) {
    TENON_ASSIGN_OR_RETURN(Tensor t, Tensor::Allocate(spec.dtype, spec.shape));
    state.strings.push_back(std::move(t));
  }
  state.dynamic.resize(static_cast<size_t>(plan.num_dynamic));
  state.pointers.resize(plan.pointers.size());
  return absl::OkStatus();
}

void Bind(const Plan& plan, ExecState& state) {
  for (size_t i = 0; i < plan.pointers.size(); ++i) {
    const int pointer = plan.pointers[i];
    state.pointers[i] = pointer < 0
                            ? nullptr
                            : FixedAddress(plan, state, plan.buffers[static_cast<size_t>(pointer)]);
  }
  state.bound_to = state.arena.data();
}

absl::Status AtNode(const Plan& plan, const Step& step, const absl::Status& status) {
  const Node& node = plan.model->graph().node(step.node);
  return Annotate(status, NodeLabel(node));
}

void Release(const Plan& plan, const Step& step, ExecState& state) {
  for (int i = step.release_begin; i < step.release_end; ++i) {
    state.dynamic[static_cast<size_t>(plan.releases[static_cast<size_t>(i)])] = Tensor();
  }
}

inline absl::Status RunStep(const Plan& plan, const Step& step, RunTensors& run) {
  absl::Status status;
  if (step.kernel != nullptr) {
    void** const pointers = run.state.pointers.data();
    RunContext context(pointers + step.inputs, pointers + step.outputs, pointers[step.scratch]);
    status = step.kernel->Run(context);
  } else {
    status = RunDynamicStep(plan, step, run);
  }
  if (!status.ok()) return AtNode(plan, step, status);
  Release(plan, step, run.state);
  return absl::OkStatus();
}

absl::Status RunSteps(const Plan& plan, RunTensors& run) {
  for (const Step& step : plan.steps) {
    TENON_RETURN_IF_ERROR(RunStep(plan, step, run));
  }
  return absl::OkStatus();
}

absl::Status RunStepsObserved(const Plan& plan, RunTensors& run, StepObserver& observer) {
  using Clock = std::chrono::steady_clock;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    const Clock::time_point start = Clock::now();
    TENON_RETURN_IF_ERROR(RunStep(plan, step, run));
    observer.OnStep(static_cast<int>(i), (Clock::now() - start) / std::chrono::nanoseconds(1));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Tensor>> CollectOutputs(const Plan& plan, RunTensors& run) {
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
      run.state.dynamic[index] = outputs.back();  // a second name for it makes a copy
      continue;
    }
    // A second name for the same tensor, an input passed through, a constant: a copy each.
    TENON_ASSIGN_OR_RETURN(Tensor view,
                           ViewOf(plan, run, {output.buffer, output.dtype, output.shape}));
    TENON_ASSIGN_OR_RETURN(Tensor copy, view.Clone());
    outputs.push_back(std::move(copy));
  }
  return outputs;
}

// Outputs that need no memory of their own.
absl::StatusOr<std::vector<Tensor>> ShareOutputs(const Plan& plan, RunTensors& run) {
  std::vector<Tensor> outputs;
  outputs.reserve(plan.outputs.size());
  for (const PlanOutput& output : plan.outputs) {
    const Buffer& buffer = plan.buffers[static_cast<size_t>(output.buffer)];
    Tensor t;
    if (buffer.kind == Buffer::Kind::kConstant) {
      const Tensor& constant = plan.constants[static_cast<size_t>(buffer.index)];
      TENON_ASSIGN_OR_RETURN(t, constant.Reshaped(output.shape));
    } else {
      TENON_ASSIGN_OR_RETURN(t, ViewOf(plan, run, {output.buffer, output.dtype, output.shape}));
    }
    outputs.push_back(std::move(t));
  }
  return outputs;
}

absl::StatusOr<std::vector<Tensor>> RunWith(const Plan& plan, ExecState& state,
                                            absl::Span<const Tensor> feeds, StepObserver* observer,
                                            bool share) {
  RunTensors run{state, feeds, {}};
  run.outputs.reserve(plan.owned_outputs.size());
  for (const TensorSpec& spec : plan.owned_outputs) {
    TENON_ASSIGN_OR_RETURN(Tensor t, Tensor::Allocate(spec.dtype, spec.shape));
    run.outputs.push_back(std::move(t));
  }
  for (const PointerPatch& p : plan.feed_pointers) {
    // Kernels only read what stands at an input position.
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

absl::StatusOr<std::vector<Tensor>> Run(const Plan& plan, absl::Span<const Tensor> feeds,
                                        StepObserver* observer, bool share);

// Adds up the times of each step over the parts.
class StepTimes : public StepObserver {
 public:
  explicit StepTimes(size_t steps) : nanoseconds_(steps, 0) {}
  void OnStep(int step, int64_t nanoseconds) override {
    nanoseconds_[static_cast<size_t>(step)] += nanoseconds;
  }
  void Tell(StepObserver& observer) const {
    for (size_t i = 0; i < nanoseconds_.size(); ++i) {
      observer.OnStep(static_cast<int>(i), nanoseconds_[i]);
    }
  }

 private:
  std::vector<int64_t> nanoseconds_;
};

// The rows of part number `part`: memory of `whole`.
Tensor PartOf(const Tensor& whole, int64_t part, int64_t parts) {
  std::vector<int64_t> dims(whole.shape().dims().begin(), whole.shape().dims().end());
  dims[0] /= parts;
  char* const data = static_cast<char*>(const_cast<void*>(whole.raw()));
  const size_t bytes = whole.bytes() / static_cast<size_t>(parts);
  return Tensor::FromExternal(whole.dtype(), Shape(dims), data + bytes * static_cast<size_t>(part),
                              nullptr);
}

absl::StatusOr<std::vector<Tensor>> RunParts(const Plan& plan, absl::Span<const Tensor> feeds,
                                             StepObserver* observer) {
  const BatchSplit& split = *plan.split;
  std::vector<Tensor> outputs(split.outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!split.split_outputs[i]) continue;
    const TensorSpec& spec = split.outputs[i];
    TENON_ASSIGN_OR_RETURN(outputs[i], Tensor::Allocate(spec.dtype, spec.shape));
  }
  StepTimes times(observer == nullptr ? 0 : split.part->steps.size());
  std::vector<Tensor> part(feeds.begin(), feeds.end());
  for (int64_t p = 0; p < split.parts; ++p) {
    for (size_t i = 0; i < part.size(); ++i) {
      if (split.split_feeds[i] && feeds[i].valid()) part[i] = PartOf(feeds[i], p, split.parts);
    }
    TENON_ASSIGN_OR_RETURN(
        const std::vector<Tensor> results,
        Run(*split.part, part, observer == nullptr ? nullptr : &times, /*share=*/false));
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (split.split_outputs[i]) {
        Tensor place = PartOf(outputs[i], p, split.parts);
        if (results[i].shape() != place.shape()) {
          return Internal("output ", i, " of a part has shape ", results[i].shape().ToString(),
                          ", not ", place.shape().ToString());
        }
        if (place.bytes() > 0) std::memcpy(place.raw(), results[i].raw(), place.bytes());
      } else {
        outputs[i] = results[i];
      }
    }
  }
  if (observer != nullptr) times.Tell(*observer);
  return outputs;
}

absl::StatusOr<std::vector<Tensor>> Run(const Plan& plan, absl::Span<const Tensor> feeds,
                                        StepObserver* observer, bool share) {
  if (plan.split != nullptr) return RunParts(plan, feeds, observer);
  TENON_ASSIGN_OR_RETURN(std::unique_ptr<ExecState> state, plan.states->Take());
  if (state->bound_to == nullptr) TENON_RETURN_IF_ERROR(MakeTensors(plan, *state));
  // Mostly the arena of the run before.
  if (state->bound_to != state->arena.data()) Bind(plan, *state);
  absl::StatusOr<std::vector<Tensor>> outputs = RunWith(plan, *state, feeds, observer, share);
  for (Tensor& t : state->dynamic) t = Tensor();
  for (const auto& stream : state->streams) {
    // What devices still have to do belongs to this run; so do their errors.
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

absl::StatusOr<std::vector<Tensor>> RunPlan(const Plan& plan, absl::Span<const Tensor> feeds,
                                            StepObserver* observer) {
  return Run(plan, feeds, observer, /*share=*/false);
}

absl::StatusOr<std::vector<Tensor>> RunPlanShared(const Plan& plan,
                                                  absl::Span<const Tensor> feeds) {
  return Run(plan, feeds, nullptr, /*share=*/true);
}

}  // namespace tenon
