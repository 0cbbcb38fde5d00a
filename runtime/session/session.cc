#include "runtime/session/session.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "env/exceptions.h"
#include "env/helper_threads.h"
#include "env/run_watch.h"
#include "env/status.h"
#include "env/thread_budget.h"
#include "runtime/plan/batch_split.h"
#include "runtime/plan/body.h"
#include "runtime/plan/plan_builder.h"
#include "runtime/session/check_input.h"
#include "runtime/session/outputs.h"
#include "runtime/session/session_state.h"

namespace tenon {
namespace {

bool AlignedToElement(const Tensor& t) {
  const size_t size = std::min<size_t>(SizeOf(t.dtype()), alignof(std::max_align_t));
  return t.dtype() == DType::kString || size <= 1 ||
         reinterpret_cast<uintptr_t>(t.raw()) % size == 0;
}

std::string Names(absl::Span<const TensorInfo> infos) {
  return absl::StrJoin(infos, ", ", [](std::string* out, const TensorInfo& info) {
    absl::StrAppend(out, "'", info.name, "'");
  });
}

// In a GraphDef, `x` and `x:0` are the same tensor.
absl::string_view WithoutPortZero(absl::string_view name) {
  return absl::EndsWith(name, ":0") ? name.substr(0, name.size() - 2) : name;
}

bool IsUnneeded(const ModelInterface& interface, absl::string_view name) {
  return std::any_of(interface.unneeded.begin(), interface.unneeded.end(),
                     [&](const std::string& n) { return n == WithoutPortZero(name); });
}

}  // namespace

absl::StatusOr<Tensor> Session::ReadVariable(absl::string_view name) const {
  return CatchExceptions([&]() -> absl::StatusOr<Tensor> {
    const MemoryScope memory(state_->memory, MemoryUse::kRun);
    TENON_ASSIGN_OR_RETURN(const Variable* variable, state_->variables.Find(name));
    TENON_ASSIGN_OR_RETURN(const Tensor value, variable->Read());
    return value.Clone();
  });
}

absl::Status Session::AssignVariable(absl::string_view name, const Tensor& value) {
  return CatchExceptions([&]() -> absl::Status {
    const MemoryScope memory(state_->memory, MemoryUse::kRun);
    TENON_ASSIGN_OR_RETURN(Variable * variable, state_->variables.Find(name));
    return variable->Assign(value);
  });
}

const Flags& Session::flags() const { return state_->flags; }
int Session::nodes_on_devices() const { return state_->on_devices; }
int Session::threads() const { return state_->services.threads; }
int64_t Session::small_team_runs() const {
  return state_->small_team_runs.load(std::memory_order_relaxed);
}
CacheStats Session::plan_stats() const { return state_->plans.stats(); }
CacheStats Session::function_plan_stats() const {
  CacheStats stats;
  state_->ForEachModel([&](const ModelState& model) {
    model.bodies().ForEach([&](const Body& body) { stats += body.plan_stats(); });
  });
  return stats;
}
CacheStats Session::kernel_stats() const { return state_->kernels.stats(); }

DiskCacheReport Session::disk_cache() const {
  MutexLock lock(&state_->disk_mutex);
  return state_->disk;
}

absl::Status Session::split_status() const {
  MutexLock lock(&state_->split_mutex);
  return state_->split_status;
}

SessionBytes Session::bytes() const {
  SessionBytes bytes;
  bytes.plans = state_->plans.bytes();
  state_->ForEachModel([&](const ModelState& model) {
    model.AddBytes(bytes.weights, bytes.packed);
    bytes.plans += static_cast<int64_t>(model.states()->arena_bytes());
    model.bodies().ForEach([&](const Body& body) { bytes.plans += body.plan_bytes(); });
  });
  bytes.primitives = std::max(state_->primitives.statistics().bytes, state_->kernels.stats().bytes);
  return bytes;
}

std::optional<MemoryUsed> Session::memory_used() const {
  if (state_->memory == nullptr) return std::nullopt;
  return MemoryUsed{state_->memory->limit(), state_->memory->held(), state_->memory->peak()};
}

const std::vector<Shape>& Session::OutputShapes() const {
  State& state = *state_;
  std::call_once(state.shapes_once, [&] {
    state.output_shapes = InferOutputShapes(state.model, inputs_, state.services);
    for (size_t i = 0; i < state.interface.output_shapes.size(); ++i) {
      Shape& shape = state.output_shapes[i];
      const Shape& stated = state.interface.output_shapes[i];
      const absl::StatusOr<Shape> merged = MergeShapes(stated, shape);
      shape = merged.ok() ? *merged : stated;
    }
  });
  return state.output_shapes;
}

absl::Status Session::CheckInputs(absl::Span<const Tensor> inputs) const {
  if (inputs.size() != inputs_.size()) {
    return InvalidArgument("the model takes ", inputs_.size(), " inputs (", Names(inputs_), "), ",
                           inputs.size(), " given");
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorInfo& want = inputs_[i];
    const Tensor& have = inputs[i];
    if (!have.valid()) {
      if (want.optional) continue;
      return InvalidArgument("input '", want.name, "' is missing");
    }
    TENON_RETURN_IF_ERROR(CheckInput(want, have));
  }
  return absl::OkStatus();
}

Session::Feeds Session::FeedsOf(absl::Span<const Tensor> inputs) const {
  Feeds feeds;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Shape& shape = inputs_[i].shape;
    const Tensor& value = state_->defaults[i];
    // Of a plan for an omitted input, its value is a part.
    const bool omitted = !inputs[i].valid() && value.valid();
    const Tensor& t = omitted ? value : inputs[i];
    feeds.specs.push_back({t.dtype(), t.shape(), omitted ? &value : nullptr});
    feeds.free_rows.push_back(!omitted && shape.has_rank() && shape.rank() > 0 && shape.dim(0) < 0);
  }
  if (state_->forms != nullptr) {
    for (size_t i : state_->forms->inputs()) {
      if (inputs[i].valid()) feeds.specs[i].value = KnownBool(inputs[i]);
    }
  }
  return feeds;
}

absl::Status Session::CheckRowsApart(absl::Span<const Tensor> inputs) const {
  return CatchExceptions([&]() -> absl::Status {
    TENON_RETURN_IF_ERROR(CheckInputs(inputs));
    const Feeds feeds = FeedsOf(inputs);
    return tenon::CheckRowsApart(state_->model, feeds.specs, feeds.free_rows, state_->services);
  });
}

absl::StatusOr<std::shared_ptr<const Plan>> Session::BuildPlanFor(const Feeds& feeds, int threads) {
  State& state = *state_;
  Services services = state.services;
  services.threads = threads;
  TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const ModelState> model, ModelFor(feeds));
  auto split = BuildSplitPlan(model, feeds.specs, feeds.free_rows, services, state.kernels);
  if (split.ok() && *split != nullptr) return *std::move(split);
  if (!split.ok()) {
    // Parts are for speed alone: the model still runs.
    MutexLock lock(&state.split_mutex);
    state.split_status = split.status();
  }
  return BuildPlan(model, feeds.specs, services, state.kernels);
}

void Session::Remember(absl::Span<const Tensor> inputs, const std::shared_ptr<const Plan>& plan) {
  MadePlan made{{}, plan};
  for (const Tensor& t : inputs) made.inputs.push_back({t.dtype(), t.shape(), nullptr});
  MutexLock lock(&state_->made_mutex);
  auto& all = state_->made;
  all.erase(std::remove_if(all.begin(), all.end(),
                           [](const MadePlan& other) { return other.plan.expired(); }),
            all.end());
  all.push_back(std::move(made));
}

absl::StatusOr<std::shared_ptr<const Plan>> Session::PlanFor(absl::Span<const Tensor> inputs) {
  return CatchExceptions([&]() -> absl::StatusOr<std::shared_ptr<const Plan>> {
    TENON_RETURN_IF_ERROR(CheckHelperThreads(threads()));
    return GetPlan(inputs, threads());
  });
}

absl::StatusOr<std::shared_ptr<const Plan>> Session::GetPlan(absl::Span<const Tensor> inputs,
                                                             int threads) {
  TENON_RETURN_IF_ERROR(CheckInputs(inputs));
  return state_->plans.Get(inputs, threads, [&]() -> absl::StatusOr<std::shared_ptr<const Plan>> {
    const MemoryScope memory(state_->memory, MemoryUse::kPacked);
    absl::StatusOr<std::shared_ptr<const Plan>> plan = BuildPlanFor(FeedsOf(inputs), threads);
    if (plan.ok() && threads == this->threads()) {
      AfterPlan();
      Remember(inputs, *plan);
    }
    return plan;
  });
}

absl::StatusOr<std::vector<Tensor>> Session::Run(absl::Span<const Tensor> inputs,
                                                 const RunOptions& options) {
  return CatchExceptions([&] { return RunAligned(inputs, options); });
}

absl::StatusOr<std::vector<Tensor>> Session::RunAligned(absl::Span<const Tensor> inputs,
                                                        const RunOptions& options) {
  const bool fits = inputs.size() >= inputs_.size() ||
                    std::any_of(inputs_.begin() + static_cast<ptrdiff_t>(inputs.size()),
                                inputs_.end(), [](const TensorInfo& i) { return !i.optional; });
  if (fits && std::all_of(inputs.begin(), inputs.end(), AlignedToElement)) {
    return RunChecked(inputs, options);
  }
  std::vector<Tensor> usable(inputs.begin(), inputs.end());
  if (!fits) usable.resize(inputs_.size());
  for (Tensor& t : usable) {
    if (AlignedToElement(t)) continue;
    TENON_ASSIGN_OR_RETURN(t, t.Clone());
  }
  return RunChecked(usable, options);
}

Session::Team Session::TeamFor(absl::Span<const Tensor> inputs, const RunOptions& options) {
  const Team all{threads(), nullptr};
  const int fewer = state_->team_size->threads();
  // An observer sees how the session runs on a quiet machine.
  if (fewer == all.threads || options.observer != nullptr) return all;
  const ThreadsInUse in_use(fewer);
  absl::StatusOr<std::shared_ptr<const Plan>> plan = GetPlan(inputs, fewer);
  if (plan.ok()) {
    state_->small_team_runs.fetch_add(1, std::memory_order_relaxed);
    return {fewer, *std::move(plan)};
  }
  if (absl::IsResourceExhausted(plan.status())) state_->team_size->Fix();
  return all;
}

namespace {

class ObservedThreads {
 public:
  ObservedThreads(ThreadsObserver* observer, int threads) : observer_(observer), threads_(threads) {
    if (observer_ != nullptr) observer_->OnStart(threads_);
  }
  ~ObservedThreads() {
    if (observer_ != nullptr) observer_->OnEnd(threads_);
  }
  ObservedThreads(const ObservedThreads&) = delete;
  ObservedThreads& operator=(const ObservedThreads&) = delete;

 private:
  ThreadsObserver* const observer_;
  const int threads_;
};

}  // namespace

absl::StatusOr<std::vector<Tensor>> Session::RunChecked(absl::Span<const Tensor> inputs,
                                                        const RunOptions& options) {
  TENON_RETURN_IF_ERROR(CheckHelperThreads(threads()));
  Team team = TeamFor(inputs, options);
  const ThreadsInUse in_use(team.threads);
  const ObservedThreads observed(options.threads, team.threads);
  const MemoryScope memory(state_->memory, MemoryUse::kRun);
  if (!options.stop.never()) TENON_RETURN_IF_ERROR(options.stop.Check());
  if (team.plan == nullptr) {
    TENON_ASSIGN_OR_RETURN(team.plan, GetPlan(inputs, team.threads));
  }
  const std::shared_ptr<const Plan>& plan = team.plan;
  if (options.observer != nullptr) options.observer->OnRun(plan);
  const RunWatch watch(team.threads, plan->best_seconds(), *state_->team_size);
  std::vector<Tensor> with_defaults;
  if (!state_->interface.defaults.empty()) {
    with_defaults.assign(inputs.begin(), inputs.end());
    for (size_t i = 0; i < with_defaults.size(); ++i) {
      if (!with_defaults[i].valid()) with_defaults[i] = state_->defaults[i];
    }
    inputs = with_defaults;
  }
  if (options.into.empty()) return plan->Run(inputs, options);
  TENON_ASSIGN_OR_RETURN(const CallersOutputs into,
                         CallersOutputs::Create(inputs, outputs_, options.into));
  RunOptions in_place = options;
  in_place.into = into.in_place();
  TENON_ASSIGN_OR_RETURN(std::vector<Tensor> results, plan->Run(inputs, in_place));
  TENON_RETURN_IF_ERROR(into.Fill(results));
  return results;
}

std::vector<Session::KeptPlan> Session::Plans() const {
  std::vector<KeptPlan> plans;
  MutexLock lock(&state_->made_mutex);
  for (const MadePlan& made : state_->made) {
    if (auto plan = made.plan.lock()) plans.push_back({made.inputs, std::move(plan)});
  }
  return plans;
}

bool Session::Takes(absl::string_view name) const {
  return IsUnneeded(state_->interface, name) ||
         std::any_of(inputs_.begin(), inputs_.end(), [&](const TensorInfo& info) {
           return WithoutPortZero(info.name) == WithoutPortZero(name);
         });
}

absl::StatusOr<std::vector<Tensor>> Session::Arrange(absl::Span<const NamedTensor> inputs) const {
  return CatchExceptions([&] { return PutInOrder(inputs); });
}

absl::StatusOr<std::vector<Tensor>> Session::PutInOrder(
    absl::Span<const NamedTensor> inputs) const {
  std::vector<Tensor> arranged(inputs_.size());
  for (const auto& [name, tensor] : inputs) {
    auto it = std::find_if(inputs_.begin(), inputs_.end(), [&](const TensorInfo& info) {
      return WithoutPortZero(info.name) == WithoutPortZero(name);
    });
    if (it == inputs_.end()) {
      if (IsUnneeded(state_->interface, name)) continue;
      return InvalidArgument("the model has no input '", name, "'; it takes ", Names(inputs_));
    }
    Tensor& place = arranged[static_cast<size_t>(it - inputs_.begin())];
    if (place.valid()) return InvalidArgument("input '", name, "' is given twice");
    place = tensor;
  }
  return arranged;
}

absl::StatusOr<std::vector<NamedTensor>> Session::Run(absl::Span<const NamedTensor> inputs,
                                                      const RunOptions& options) {
  return CatchExceptions([&]() -> absl::StatusOr<std::vector<NamedTensor>> {
    TENON_ASSIGN_OR_RETURN(const std::vector<Tensor> arranged, PutInOrder(inputs));
    TENON_ASSIGN_OR_RETURN(std::vector<Tensor> outputs, RunAligned(arranged, options));
    std::vector<NamedTensor> named;
    for (size_t i = 0; i < outputs.size(); ++i) {
      named.emplace_back(outputs_[i].name, std::move(outputs[i]));
    }
    return named;
  });
}

}  // namespace tenon
