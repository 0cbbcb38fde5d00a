// From a model to a session that can run: options, the disk cache, rewriting.
#include <atomic>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "env/cpu.h"
#include "env/exceptions.h"
#include "env/flush_denormals.h"
#include "env/helper_threads.h"
#include "env/status.h"
#include "env/thread_count.h"
#include "graph/buffer_cache.h"
#include "graph/text.h"
#include "ops/op.h"
#include "primitive_cache/isa.h"
#include "runtime/devices/placement.h"
#include "runtime/devices/registry.h"
#include "runtime/disk_cache/cache_folder.h"
#include "runtime/session/session_state.h"

namespace tenon {
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

// Writes a graph in each phase to TENON_DUMP_DIR: session_0003_0_loaded.graph, _1_clean, ...; the
// first number counts the graphs that this process has rewritten. Files that cannot be written are
// skipped.
std::function<void(absl::string_view, const Graph&)> DumpTo(const std::string& folder) {
  if (folder.empty()) return nullptr;
  static std::atomic<int> graphs = 0;
  return [prefix = absl::StrCat(folder, "/session_", absl::Dec(graphs++, absl::kZeroPad4), "_"),
          number = 0](absl::string_view phase, const Graph& graph) mutable {
    std::ofstream(absl::StrCat(prefix, number++, "_", phase, ".graph")) << PrintGraph(graph);
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
  TENON_RETURN_IF_ERROR(CheckCpu());
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
  state.team_size.emplace(state.services.threads, /*fixed=*/!flags.dynamic_threads);
  if (options.memory_limit < 0) return InvalidArgument("memory_limit must not be negative");
  state.services.small_runs = options.small_runs;
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
  LoadOptions load_options = load;
  load_options.map_files &= session->flags().map_files;
  TENON_ASSIGN_OR_RETURN(Model model, LoadModel(path, load_options));
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
  if (state.flags.onednn_opts && state.on_devices == 0) {
    state.forms = BranchForms::Of(graph);
    if (state.forms != nullptr) state.plans.DistinguishValues(state.forms->inputs());
  }
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

absl::StatusOr<std::shared_ptr<const ModelState>> Session::ModelFor(const Feeds& feeds) {
  State& state = *state_;
  if (state.forms == nullptr) return state.model;
  const FlushDenormals flush;
  const MemoryScope memory(state.memory, MemoryUse::kWeights);
  TENON_ASSIGN_OR_RETURN(
      auto form, state.forms->For(feeds.specs, state.variables, [&](Graph& graph) {
        const SessionReport report = RewriteOrKeep(graph, state.services, state.precision);
        BufferCache::Global().Clear();
        return report.status;
      }));
  return form != nullptr ? form : state.model;
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
  const FilePages pages = state.flags.map_files ? FilePages::kMapped : FilePages::kCopied;
  TENON_ASSIGN_OR_RETURN(const CacheContent content,
                         ReadCacheFile(entry.path, entry.key, pages, threads()));
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
  BufferCache::Global().Clear();  // memory of weights that lie in the file now
  if (status.ok() && state.flags.cache_dir_bytes > 0) {
    // Files that cannot be deleted stay.
    TrimCacheFolder(std::filesystem::path(state.entry.path).parent_path().string(),
                    state.flags.cache_dir_bytes, state.entry.path)
        .IgnoreError();
  }
}

}  // namespace tenon
