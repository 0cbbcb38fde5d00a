#include "runtime/session/session.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "env/exceptions.h"
#include "env/flush_denormals.h"
#include "env/helper_threads.h"
#include "env/memory_account.h"
#include "env/mutex.h"
#include "env/status.h"
#include "env/thread_budget.h"
#include "env/thread_count.h"
#include "graph/buffer_cache.h"
#include "graph/text.h"
#include "ops/op.h"
#include "primitive_cache/cache.h"
#include "primitive_cache/isa.h"
#include "runtime/devices/placement.h"
#include "runtime/devices/registry.h"
#include "runtime/disk_cache/cache_folder.h"
#include "runtime/disk_cache/disk_cache.h"
#include "runtime/execution/kernel_cache.h"
#include "runtime/plan/batch_split.h"
#include "runtime/plan/body.h"
#include "runtime/plan/model_state.h"
#include "runtime/plan/plan_builder.h"
#include "runtime/plan/plan_cache.h"
#include "runtime/session/outputs.h"

namespace tenon {

struct MadePlan {
  std::vector<TensorSpec> inputs;
  std::weak_ptr<const Plan> plan;
};

// Members are destroyed from the bottom up: plans before kernels, kernels before constants and
// services.
struct Session::State {
  explicit State(const Flags& f)
      : flags(f),
        primitives(PrimitiveCache::LimitsOf(f)),
        kernels(CacheLimits{.entries = f.cache_entries, .bytes = f.cache_bytes}),
        plans(f.plan_entries, f.plan_bytes) {
    services.flags = &flags;
    services.cache = &primitives;
  }

  const Flags flags;
  std::shared_ptr<MemoryAccount> memory;  // null: no limit
  PrimitiveCache primitives;
  Services services;
  SessionVariables variables;
  std::shared_ptr<const ModelState> model;
  KernelCache kernels;
  PlanCache<Plan> plans;
  Precision precision = Precision::kFloat;
  const Device* device = nullptr;  // where nodes run if it has a kernel for them
  int on_devices = 0;
  ModelInterface interface;
  std::vector<Tensor> defaults;  // by input; invalid: none
  std::once_flag shapes_once;
  std::vector<Shape> output_shapes;

  mutable Mutex made_mutex;
  std::vector<MadePlan> made ABSL_GUARDED_BY(made_mutex);

  mutable Mutex split_mutex;
  absl::Status split_status ABSL_GUARDED_BY(split_mutex);

  // The disk cache: an entry to be written with the first plan, or one that was read and waits for
  // it.
  std::string cache_dir;
  mutable Mutex disk_mutex;
  DiskCacheReport disk ABSL_GUARDED_BY(disk_mutex);
  DiskCacheEntry entry ABSL_GUARDED_BY(disk_mutex);
  std::optional<DiskCacheDraft> draft ABSL_GUARDED_BY(disk_mutex);
  std::vector<std::shared_ptr<const PackedWeights>> restored ABSL_GUARDED_BY(disk_mutex);
};

namespace {

TensorInfo InputInfo(const ModelState& model, const GraphInput& input, bool has_default) {
  const Node& node = model.graph().node(input.node);
  TensorInfo info{input.name};
  info.optional = has_default || !node.inputs.empty() || !model.is_live(input.node);
  if (const DType* dtype = node.attr<DType>("dtype")) info.dtype = *dtype;
  if (const Shape* shape = node.attr<Shape>("shape")) info.shape = *shape;
  return info;
}

TensorInfo OutputInfo(const Graph& graph, const GraphOutput& output) {
  const Node& node = graph.node(output.source.node);
  TensorInfo info{output.name};
  const OpLookup op = FindOp(node.op);
  const auto dtypes = op.info == nullptr
                          ? std::vector<DType>()
                          : OutputDTypes(*op.info, node).value_or(std::vector<DType>());
  const auto port = static_cast<size_t>(output.source.port);
  if (port < dtypes.size()) info.dtype = dtypes[port];
  return info;
}

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

// Writes each graph to TENON_DUMP_DIR; graphs that cannot be written are skipped.
std::function<void(absl::string_view, const Graph&)> DumpTo(const std::string& folder) {
  if (folder.empty()) return nullptr;
  return [folder, number = 0](absl::string_view phase, const Graph& graph) mutable {
    std::ofstream(absl::StrCat(folder, "/", number++, "_", phase, ".graph")) << PrintGraph(graph);
  };
}

// Explains why the requested precision is not used; "" if it is.
std::string PrecisionNote(const Flags& flags, Precision& precision) {
  if (precision == Precision::kFloat) return "";
  if (!HasBfloat16Instructions()) {
    precision = Precision::kFloat;
    return "this CPU has no bfloat16 instructions: the model runs in float32";
  }
  if (flags.onednn_opts) return "";
  return "TF_ENABLE_ONEDNN_OPTS is off: the model runs in the precision it was written in";
}

// If rewriting fails, the model still runs.
SessionReport RewriteOrKeep(Graph& graph, const Services& services, Precision precision) {
  SessionReport report;
  RewriteOptions options;
  options.services = &services;
  options.precision = precision;
  options.dump = DumpTo(services.flags->dump_dir);
  Graph rewritten = graph;
  absl::StatusOr<RewriteReport> done = Rewrite(rewritten, options);
  if (!done.ok()) {
    report.status = done.status();
    return report;
  }
  graph = std::move(rewritten);
  report.rewrite = *std::move(done);
  return report;
}

}  // namespace

Session::Session() = default;
Session::~Session() = default;

absl::StatusOr<std::unique_ptr<Session>> Session::New(const SessionOptions& options) {
  Flags flags;
  if (options.flags.has_value()) {
    flags = *options.flags;
  } else {
    TENON_ASSIGN_OR_RETURN(flags, Flags::FromEnvironment());
  }
  std::unique_ptr<Session> session(new Session());
  session->state_ = std::make_unique<State>(flags);
  State& state = *session->state_;
  state.services.threads = ThreadCount(options.threads, flags);
  TENON_RETURN_IF_ERROR(CheckHelperThreads(state.services.threads));
  if (options.memory_limit < 0) return InvalidArgument("memory_limit must not be negative");
  if (options.memory_limit > 0) {
    state.memory = std::make_shared<MemoryAccount>(options.memory_limit);
  }
  state.cache_dir = options.cache_dir.empty() ? flags.cache_dir : options.cache_dir;
  TENON_ASSIGN_OR_RETURN(state.precision, ResolvePrecision(options.precision, flags));
  session->report_.note = PrecisionNote(flags, state.precision);
  DeviceRegistry& plugins = DeviceRegistry::Global();
  TENON_RETURN_IF_ERROR(plugins.LoadAll(flags.plugin_path));
  for (const std::string& path : options.plugins) TENON_RETURN_IF_ERROR(plugins.Load(path));
  if (!options.device.empty()) {
    TENON_ASSIGN_OR_RETURN(state.device, plugins.Find(options.device));
  }
  // The disk cache does not support plug-ins.
  if (!plugins.devices().empty()) state.cache_dir.clear();
  return session;
}

absl::StatusOr<std::unique_ptr<Session>> Session::Create(Graph graph,
                                                         const SessionOptions& options) {
  Model model;
  model.graph = std::move(graph);
  return Create(std::move(model), options);
}

absl::StatusOr<std::unique_ptr<Session>> Session::Load(const std::string& path,
                                                       const LoadOptions& load,
                                                       const SessionOptions& options) {
  return CatchExceptions([&] { return LoadOrThrow(path, load, options); });
}

absl::StatusOr<std::unique_ptr<Session>> Session::LoadOrThrow(const std::string& path,
                                                              const LoadOptions& load,
                                                              const SessionOptions& options) {
  TENON_ASSIGN_OR_RETURN(std::unique_ptr<Session> session, New(options));
  if (const std::string folder = session->state_->cache_dir; !folder.empty()) {
    const absl::StatusOr<DiskCacheEntry> entry = FindDiskCacheEntry(
        folder, path, load, session->flags(), session->state_->precision, session->threads());
    DiskCacheReport disk{DiskCacheReport::State::kFailed, entry.status()};
    if (entry.ok()) {
      disk.status = session->ReadFromDisk(*entry);
      if (disk.status.ok()) return session;
      disk.state = DiskCacheReport::State::kPending;
      TENON_ASSIGN_OR_RETURN(session, New(options));  // nothing of a failed start remains
    }
    MutexLock lock(&session->state_->disk_mutex);
    session->state_->disk = std::move(disk);
    if (entry.ok()) session->state_->entry = *entry;
  }
  const MemoryScope memory(session->state_->memory, MemoryUse::kWeights);
  TENON_ASSIGN_OR_RETURN(Model model, LoadModel(path, load));
  session->state_->interface = std::move(model.interface);
  TENON_RETURN_IF_ERROR(session->Rewrite(std::move(model.graph)));
  return session;
}

absl::StatusOr<std::unique_ptr<Session>> Session::Parse(absl::string_view bytes,
                                                        const LoadOptions& load,
                                                        const SessionOptions& options) {
  return CatchExceptions([&]() -> absl::StatusOr<std::unique_ptr<Session>> {
    TENON_ASSIGN_OR_RETURN(std::unique_ptr<Session> session, New(options));
    const MemoryScope memory(session->state_->memory, MemoryUse::kWeights);
    TENON_ASSIGN_OR_RETURN(Model model, ParseModel(bytes, load));
    session->state_->interface = std::move(model.interface);
    TENON_RETURN_IF_ERROR(session->Rewrite(std::move(model.graph)));
    return session;
  });
}

absl::StatusOr<std::unique_ptr<Session>> Session::Create(Model model,
                                                         const SessionOptions& options) {
  return CatchExceptions([&]() -> absl::StatusOr<std::unique_ptr<Session>> {
    TENON_ASSIGN_OR_RETURN(std::unique_ptr<Session> session, New(options));
    session->state_->interface = std::move(model.interface);
    TENON_RETURN_IF_ERROR(session->Rewrite(std::move(model.graph)));
    return session;
  });
}

absl::Status Session::Rewrite(Graph graph) {
  const FlushDenormals flush;  // for folded constants, as in a run
  State& state = *state_;
  const MemoryScope memory(state.memory, MemoryUse::kWeights);
  TENON_ASSIGN_OR_RETURN(state.on_devices, PlaceOnDevices(graph, state.device));
  std::string note = std::move(report_.note);
  report_ = RewriteOrKeep(graph, state.services, state.precision);
  BufferCache::Global().Clear();  // memory of weights that were folded
  if (state.memory != nullptr && absl::IsResourceExhausted(report_.status)) return report_.status;
  report_.note = std::move(note);
  {
    MutexLock lock(&state.disk_mutex);
    if (state.disk.state == DiskCacheReport::State::kPending) {
      absl::StatusOr<DiskCacheDraft> draft = DiskCacheDraft::Create(graph, state.interface);
      if (!report_.status.ok()) draft = report_.status;
      if (draft.ok()) {
        state.draft = *std::move(draft);
      } else {
        state.disk = {DiskCacheReport::State::kFailed, draft.status()};
      }
    }
  }
  return Start(std::move(graph));
}

absl::Status Session::Start(Graph graph) {
  State& state = *state_;
  TENON_ASSIGN_OR_RETURN(state.model, ModelState::Create(std::move(graph), state.variables));
  variable_names_ = state.variables.Names();
  for (const GraphInput& input : state.model->graph().inputs()) {
    Tensor value;
    for (const auto& [name, tensor] : state.interface.defaults) {
      if (name == input.name) value = tensor;
    }
    inputs_.push_back(InputInfo(*state.model, input, value.valid()));
    state.defaults.push_back(std::move(value));
  }
  for (const GraphOutput& output : state.model->graph().outputs()) {
    outputs_.push_back(OutputInfo(state.model->graph(), output));
  }
  return absl::OkStatus();
}

absl::Status Session::ReadFromDisk(const DiskCacheEntry& entry) {
  State& state = *state_;
  const MemoryScope memory(state.memory, MemoryUse::kWeights);
  TENON_ASSIGN_OR_RETURN(const CacheContent content,
                         ReadCacheFile(entry.path, entry.key, threads()));
  TENON_ASSIGN_OR_RETURN(RestoredGraph restored, RestoreGraph(content));
  state.interface = content.interface;
  report_.rewrite.enabled = state.flags.onednn_opts;
  report_.rewrite.ops_after = CountOps(restored.graph);
  TENON_RETURN_IF_ERROR(Start(std::move(restored.graph)));
  TENON_ASSIGN_OR_RETURN(auto forms,
                         RestoreForms(content, restored.weights, *state.model, threads()));
  MutexLock lock(&state.disk_mutex);
  state.disk.state = DiskCacheReport::State::kRead;
  MarkUsed(entry.path);
  state.restored = std::move(forms);
  return absl::OkStatus();
}

void Session::AfterPlan() {
  State& state = *state_;
  MutexLock lock(&state.disk_mutex);
  state.restored.clear();  // kernels hold those that they use
  if (!state.draft.has_value()) return;
  const absl::Status status = WriteDiskCache(state.entry, *state.draft, *state.model, threads());
  state.disk = {status.ok() ? DiskCacheReport::State::kWritten : DiskCacheReport::State::kFailed,
                status};
  state.draft.reset();
  if (status.ok() && state.flags.cache_dir_bytes > 0) {
    // Files that cannot be deleted stay.
    TrimCacheFolder(std::filesystem::path(state.entry.path).parent_path().string(),
                    state.flags.cache_dir_bytes, state.entry.path)
        .IgnoreError();
  }
}

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
CacheStats Session::plan_stats() const { return state_->plans.stats(); }
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
  state_->model->AddBytes(bytes.weights, bytes.packed);
  bytes.plans =
      state_->plans.bytes() + static_cast<int64_t>(state_->model->states()->arena_bytes());
  state_->model->bodies().ForEach([&](const Body& body) { bytes.plans += body.plan_bytes(); });
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
    if (want.dtype != DType::kInvalid && have.dtype() != want.dtype) {
      return InvalidArgument("input '", want.name, "' must be ", Name(want.dtype), ", but is ",
                             Name(have.dtype()));
    }
    if (!have.shape().CompatibleWith(want.shape)) {
      return InvalidArgument("input '", want.name, "' must have shape ", want.shape.ToString(),
                             ", but has ", have.shape().ToString());
    }
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
  return feeds;
}

absl::Status Session::CheckRowsApart(absl::Span<const Tensor> inputs) const {
  return CatchExceptions([&]() -> absl::Status {
    TENON_RETURN_IF_ERROR(CheckInputs(inputs));
    const Feeds feeds = FeedsOf(inputs);
    return tenon::CheckRowsApart(state_->model, feeds.specs, feeds.free_rows, state_->services);
  });
}

absl::StatusOr<std::shared_ptr<const Plan>> Session::BuildPlanFor(const Feeds& feeds) {
  State& state = *state_;
  auto split =
      BuildSplitPlan(state.model, feeds.specs, feeds.free_rows, state.services, state.kernels);
  if (split.ok() && *split != nullptr) return *std::move(split);
  if (!split.ok()) {
    // Parts are for speed alone: the model still runs.
    MutexLock lock(&state.split_mutex);
    state.split_status = split.status();
  }
  return BuildPlan(state.model, feeds.specs, state.services, state.kernels);
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
    return GetPlan(inputs);
  });
}

absl::StatusOr<std::shared_ptr<const Plan>> Session::GetPlan(absl::Span<const Tensor> inputs) {
  TENON_RETURN_IF_ERROR(CheckInputs(inputs));
  return state_->plans.Get(inputs, [&]() -> absl::StatusOr<std::shared_ptr<const Plan>> {
    const MemoryScope memory(state_->memory, MemoryUse::kPacked);
    absl::StatusOr<std::shared_ptr<const Plan>> plan = BuildPlanFor(FeedsOf(inputs));
    if (plan.ok()) {
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

absl::StatusOr<std::vector<Tensor>> Session::RunChecked(absl::Span<const Tensor> inputs,
                                                        const RunOptions& options) {
  TENON_RETURN_IF_ERROR(CheckHelperThreads(threads()));
  const ThreadsInUse in_use(threads());
  const MemoryScope memory(state_->memory, MemoryUse::kRun);
  if (!options.stop.never()) TENON_RETURN_IF_ERROR(options.stop.Check());
  TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const Plan> plan, GetPlan(inputs));
  if (options.observer != nullptr) options.observer->OnRun(plan);
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
