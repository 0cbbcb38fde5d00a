// Runs flat plans.
#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "env/exceptions.h"
#include "env/spread_team.h"
#include "env/status.h"
#include "env/team.h"
#include "graph/object.h"
#include "ops/control/branch.h"
#include "runtime/execution/execution.h"
#include "runtime/execution/flat_plan.h"
#include "runtime/execution/plan_call.h"

namespace tenon {
namespace {

constexpr uintptr_t kTensorAlignment = 64;  // as graph/tensor.h says

absl::Status MakeTensors(const FlatPlan& plan, ExecState& state) {
  state.strings.clear();  // of an attempt that failed
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
  return TryAnnotate(status,
                     [&] { return Annotate(status, NodeLabel(plan.graph->node(step.node))); });
}

void Release(const FlatPlan& plan, const FlatStep& step, ExecState& state) {
  for (int i = step.release_begin; i < step.release_end; ++i) {
    state.dynamic[static_cast<size_t>(plan.releases[static_cast<size_t>(i)])] = Tensor();
  }
}

// Gives the step's outputs the memory of its inputs, or memory of their own.
absl::Status TakeMemory(const FlatPlan& plan, const FlatStep& step, Execution& run) {
  for (int i = step.take_begin; i < step.take_end; ++i) {
    const auto& take = plan.takes[static_cast<size_t>(i)];
    Tensor* const input = run.Slot(take.from, take.input);
    Tensor output;
    if (input != nullptr && input->OwnsAlone()) {
      output = std::exchange(*input, Tensor());
      if (output.shape() != take.spec.shape) {
        TENON_ASSIGN_OR_RETURN(output, output.Reshaped(take.spec.shape));
      }
    } else {
      TENON_ASSIGN_OR_RETURN(output, Tensor::Allocate(take.spec.dtype, take.spec.shape));
    }
    run.BringAt(take.output, std::move(output));
  }
  return absl::OkStatus();
}

inline absl::Status RunStep(const FlatPlan& plan, const FlatStep& step, Execution& run) try {
  if (step.kernel != nullptr) {
    if (step.take_begin != step.take_end) {
      if (absl::Status status = TakeMemory(plan, step, run); !status.ok()) {
        return AtNode(plan, step, status);
      }
    }
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
} catch (...) {
  return AtNode(plan, step, CaughtException());
}

// A step by `run_one`, and notes which regions it has.
template <typename F>
absl::Status RunStepAlone(const FlatStep& step, F& run_one) {
  if (step.regions.kind() != StepRegions::kNone) SpreadIfLate();
  if (step.regions.kind() != StepRegions::kUnknown) return run_one(step);
  const RegionCounts before = RegionsOfThread();
  TENON_RETURN_IF_ERROR(run_one(step));
  const RegionCounts& now = RegionsOfThread();
  const int64_t own = now.own - before.own;
  const bool others =
      now.others != before.others || (step.kernel == nullptr && step.step->RunsMore());
  step.regions.set(others     ? StepRegions::kOthers
                   : own == 0 ? StepRegions::kNone
                   : own == 1 ? StepRegions::kOne
                              : StepRegions::kSeveral);
  return absl::OkStatus();
}

// Steps up to `end`, which one team runs if it is `worth_it`.
struct TeamSteps {
  size_t end = 0;
  bool worth_it = false;
};
TeamSteps TeamStepsFrom(const FlatPlan& plan, size_t begin) {
  size_t last = begin, i = begin;
  int regions = 0;
  for (; i < plan.steps.size(); ++i) {
    const StepRegions::Kind kind = plan.steps[i].regions.kind();
    if (kind == StepRegions::kUnknown || kind == StepRegions::kOthers) break;
    if (kind == StepRegions::kNone) continue;
    regions += kind == StepRegions::kSeveral ? 2 : 1;
    last = i + 1;
  }
  if (regions > 1) return {last, true};
  return {std::max(i, begin + 1), false};
}

template <typename F>
absl::Status RunWithTeam(const FlatPlan& plan, size_t begin, size_t end, F& run_one) {
  absl::Status status;
  KeepTeam(plan.services.threads, [&] {
    for (size_t i = begin; i < end && status.ok(); ++i) {
      const FlatStep& step = plan.steps[i];
      if (step.regions.kind() != StepRegions::kNone) SpreadIfLate();
      const int64_t others = RegionsOfThread().others;
      status = run_one(step);
      // It did not have them when it ran alone.
      if (RegionsOfThread().others != others) step.regions.set(StepRegions::kOthers);
    }
  });
  return status;
}

template <typename F>
absl::Status RunStepsBy(const FlatPlan& plan, F run_one) {
  const bool teams = plan.services.threads > 1;
  for (size_t i = 0; i < plan.steps.size();) {
    const TeamSteps steps = teams ? TeamStepsFrom(plan, i) : TeamSteps{plan.steps.size()};
    if (steps.worth_it) {
      TENON_RETURN_IF_ERROR(RunWithTeam(plan, i, steps.end, run_one));
      i = steps.end;
    }
    for (; i < steps.end; ++i) TENON_RETURN_IF_ERROR(RunStepAlone(plan.steps[i], run_one));
  }
  return absl::OkStatus();
}

absl::Status RunSteps(const FlatPlan& plan, Execution& run) {
  return RunStepsBy(plan, [&](const FlatStep& step) { return RunStep(plan, step, run); });
}

absl::Status RunStepsObserved(const FlatPlan& plan, Execution& run, StepObserver& observer) {
  using Clock = std::chrono::steady_clock;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    if (run.stop != nullptr) TENON_RETURN_IF_ERROR(run.stop->Check());
    const FlatStep& step = plan.steps[i];
    const Clock::time_point start = Clock::now();
    run.iterations.reset();
    TENON_RETURN_IF_ERROR(RunStep(plan, step, run));
    const int64_t nanoseconds = (Clock::now() - start) / std::chrono::nanoseconds(1);
    if (run.iterations) observer.OnLoop(static_cast<int>(i), *run.iterations);
    observer.OnStep(static_cast<int>(i), nanoseconds);
  }
  return absl::OkStatus();
}

// Apart, so that runs that nothing stops pay nothing.
absl::Status RunStepsUntilStopped(const FlatPlan& plan, Execution& run) {
  return RunStepsBy(plan, [&](const FlatStep& step) -> absl::Status {
    TENON_RETURN_IF_ERROR(run.stop->Check());
    return RunStep(plan, step, run);
  });
}

// In a later iteration of a loop.
absl::Status RunStepsAgain(const FlatPlan& plan, Execution& run) {
  return RunStepsBy(plan, [&](const FlatStep& step) -> absl::Status {
    if (step.once) return absl::OkStatus();
    if (run.stop != nullptr) TENON_RETURN_IF_ERROR(run.stop->Check());
    return RunStep(plan, step, run);
  });
}

absl::Status RunAllSteps(const FlatPlan& plan, Execution& run, StepObserver* observer) {
  if (observer != nullptr) return RunStepsObserved(plan, run, *observer);
  return run.stop == nullptr ? RunSteps(plan, run) : RunStepsUntilStopped(plan, run);
}

bool Aligned(const Tensor& t) {
  return reinterpret_cast<uintptr_t>(t.raw()) % kTensorAlignment == 0;
}

// Lets steps write outputs to the caller's memory. Of outputs that are the same tensor, the first
// gets what the steps wrote (CollectOutputs).
void UseCallersMemory(const FlatPlan& plan, absl::Span<const Tensor> into, ExecState& state) {
  state.outputs.resize(plan.owned_outputs.size());
  for (size_t i = 0; i < std::min(into.size(), plan.outputs.size()); ++i) {
    const PlanOutput& output = plan.outputs[i];
    const Buffer& buffer = plan.buffers[static_cast<size_t>(output.buffer)];
    if (!into[i].valid() || buffer.kind != Buffer::Kind::kOutput || !Aligned(into[i])) continue;
    Tensor& place = state.outputs[static_cast<size_t>(buffer.index)];
    const TensorSpec& spec = plan.owned_outputs[static_cast<size_t>(buffer.index)];
    const bool first =
        std::none_of(plan.outputs.begin(), plan.outputs.begin() + static_cast<ptrdiff_t>(i),
                     [&](const PlanOutput& earlier) { return earlier.buffer == output.buffer; });
    if (!first || place.valid() || output.shape != spec.shape) continue;
    if (into[i].dtype() == spec.dtype && into[i].shape() == spec.shape) place = into[i];
  }
}

// Each in memory of its own.
absl::StatusOr<std::vector<Tensor>> CollectOutputs(const FlatPlan& plan, Execution& run) {
  std::vector<Tensor> outputs;
  outputs.reserve(plan.outputs.size());
  absl::InlinedVector<bool, 16> given(run.state.outputs.size(), false);
  for (const PlanOutput& output : plan.outputs) {
    const Buffer& buffer = plan.buffers[static_cast<size_t>(output.buffer)];
    const size_t index = static_cast<size_t>(buffer.index);
    if (buffer.kind == Buffer::Kind::kOutput && !given[index] &&
        run.state.outputs[index].shape() == output.shape) {
      given[index] = true;
      Tensor& own = run.state.outputs[index];
      if (output.last) {
        outputs.push_back(std::move(own));
      } else {
        outputs.push_back(own);
      }
      continue;
    }
    const bool brought =
        buffer.kind == Buffer::Kind::kDynamic ||
        (buffer.kind == Buffer::Kind::kHeld && run.state.dynamic[index].shape() == output.shape);
    if (brought && run.state.dynamic[index].OwnsAlone()) {
      outputs.push_back(run.state.dynamic[index]);  // a second name for it gets a copy
      continue;
    }
    // A second name for the same tensor, an input passed through, and a constant each get a copy.
    TENON_ASSIGN_OR_RETURN(Tensor view, run.View({output.buffer, output.dtype, output.shape}));
    absl::StatusOr<Tensor> copy = view.Clone();
    if (!copy.ok()) {
      const GraphOutput& named = plan.graph->outputs()[outputs.size()];
      return Annotate(copy.status(), NodeLabel(plan.graph->node(named.source.node)));
    }
    outputs.push_back(*std::move(copy));
  }
  return outputs;
}

// Outputs that need no memory of their own.
absl::Status ShareOutputs(const FlatPlan& plan, Execution& run, std::vector<Tensor>& results) {
  results.clear();
  for (const PlanOutput& output : plan.outputs) {
    const Buffer& buffer = plan.buffers[static_cast<size_t>(output.buffer)];
    Tensor* const slot = output.last ? run.Slot(buffer.kind, buffer.index) : nullptr;
    if (slot != nullptr && slot->valid() &&
        (slot->shape() == output.shape || !output.shape.IsComplete())) {
      results.push_back(std::exchange(*slot, Tensor()));
      continue;
    }
    TENON_ASSIGN_OR_RETURN(Tensor t, run.View({output.buffer, output.dtype, output.shape}));
    results.push_back(std::move(t));
  }
  for (Tensor& t : run.state.outputs) t = Tensor();
  return absl::OkStatus();
}

void Recycle(const FlatPlan& plan, Execution& run) {
  if (run.owned_feeds.empty()) return;
  for (const auto& [feed, output] : plan.recycled) {
    Tensor& from = run.owned_feeds[static_cast<size_t>(feed)];
    if (from.OwnsAlone()) run.state.outputs[static_cast<size_t>(output)] = std::move(from);
    from = Tensor();
  }
}

// Names the node of an owned output.
absl::Status AtOutput(const FlatPlan& plan, size_t owned, const absl::Status& status) {
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    const Buffer& buffer = plan.buffers[static_cast<size_t>(plan.outputs[i].buffer)];
    if (buffer.kind != Buffer::Kind::kOutput || static_cast<size_t>(buffer.index) != owned)
      continue;
    return Annotate(status, NodeLabel(plan.graph->node(plan.graph->outputs()[i].source.node)));
  }
  return status;
}

absl::Status Prepare(const FlatPlan& plan, absl::Span<const Tensor> into, Execution& run) {
  ExecState& state = run.state;
  if (state.bound_to == nullptr) TENON_RETURN_IF_ERROR(MakeTensors(plan, state));
  // Usually it is the arena of the previous run.
  if (state.bound_to != state.arena.data()) Bind(plan, state);
  state.steps.resize(static_cast<size_t>(plan.num_step_states));
  state.outputs.resize(plan.owned_outputs.size());
  if (!into.empty()) UseCallersMemory(plan, into, state);
  for (size_t i = 0; i < state.outputs.size(); ++i) {
    Tensor& t = state.outputs[i];
    const TensorSpec& spec = plan.owned_outputs[i];
    if (t.dtype() == spec.dtype && t.shape() == spec.shape && (t.OwnsAlone() || !into.empty())) {
      continue;
    }
    absl::StatusOr<Tensor> made = Tensor::Allocate(spec.dtype, spec.shape);
    if (!made.ok()) return AtOutput(plan, i, made.status());
    t = *std::move(made);
  }
  for (const PointerPatch& p : plan.feed_pointers) {
    // Kernels only read from input positions.
    char* const data =
        static_cast<char*>(const_cast<void*>(run.feeds[static_cast<size_t>(p.index)].raw()));
    state.pointers[static_cast<size_t>(p.position)] = data == nullptr ? nullptr : data + p.offset;
  }
  for (const PointerPatch& p : plan.output_pointers) {
    state.pointers[static_cast<size_t>(p.position)] =
        static_cast<char*>(state.outputs[static_cast<size_t>(p.index)].raw()) + p.offset;
  }
  return absl::OkStatus();
}

// Drops what belongs to this run alone.
absl::Status Finish(ExecState& state) {
  absl::Status status;
  for (Tensor& t : state.dynamic) t = Tensor();
  bool failed = false;
  for (const auto& stream : state.streams) {
    // Pending work on devices belongs to this run, and so do its errors.
    absl::Status done = CatchExceptions([&] { return stream->Synchronize(); });
    failed |= !done.ok() || stream->failed();
    if (done.ok() || !status.ok()) continue;
    status = TryAnnotate(
        done, [&] { return Annotate(done, absl::StrCat("device ", stream->device().name())); });
  }
  if (failed) state.streams.clear();  // the next run gets new ones
  for (Tensor& t : state.strings) {
    if (HoldsObjects(t.dtype())) std::fill_n(t.data<ObjectPtr>(), t.num_elements(), nullptr);
  }
  return status;
}

}  // namespace

absl::StatusOr<std::vector<Tensor>> FlatPlan::DoRun(absl::Span<const Tensor> inputs,
                                                    const RunOptions& options) const {
  TENON_ASSIGN_OR_RETURN(HeldState state, HeldState::Of(*this));
  Execution run(*this, *state, inputs, {}, options.stop.never() ? nullptr : &options.stop);
  // Whatever happens, the state is finished before another run gets it.
  auto results = CatchExceptions([&]() -> absl::StatusOr<std::vector<Tensor>> {
    TENON_RETURN_IF_ERROR(Prepare(*this, options.into, run));
    TENON_RETURN_IF_ERROR(RunAllSteps(*this, run, options.observer));
    return CollectOutputs(*this, run);
  });
  if (absl::Status done = Finish(*state); results.ok() && !done.ok()) return done;
  return results;
}

absl::Status PlanCall::Run(absl::Span<const Tensor> feeds, absl::Span<Tensor> owned,
                           const StopCondition* stop,
                           absl::FunctionRef<absl::Status(Execution&)> collect) {
  Execution run(*plan_, *state_, feeds, owned, stop);
  const bool again = std::exchange(again_, false);
  absl::Status status = CatchExceptions([&]() -> absl::Status {
    TENON_RETURN_IF_ERROR(Prepare(*plan_, {}, run));
    TENON_RETURN_IF_ERROR(again ? RunStepsAgain(*plan_, run) : RunAllSteps(*plan_, run, nullptr));
    return collect(run);
  });
  if (absl::Status done = Finish(*state_); status.ok()) status = std::move(done);
  again_ = status.ok();
  return status;
}

absl::Status PlanCall::Iterate(absl::Span<Tensor> arguments, const StopCondition* stop,
                               std::vector<Tensor>& results) {
  return Run(arguments, arguments, stop, [&](Execution& run) {
    TENON_RETURN_IF_ERROR(ShareOutputs(*plan_, run, results));
    Recycle(*plan_, run);
    return absl::OkStatus();
  });
}

absl::StatusOr<bool> PlanCall::Test(absl::Span<const Tensor> arguments, const StopCondition* stop) {
  bool truth = false;
  TENON_RETURN_IF_ERROR(Run(arguments, {}, stop, [&](Execution& run) -> absl::Status {
    const PlanOutput& output = plan_->outputs[0];
    TENON_ASSIGN_OR_RETURN(const Tensor t, run.View({output.buffer, output.dtype, output.shape}));
    truth = IsTrue(t);
    return absl::OkStatus();
  }));
  return truth;
}

}  // namespace tenon
