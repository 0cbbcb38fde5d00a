#include "tools/serve/servable.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tools/serve/log.h"
#include "tools/serve/long_work.h"
#include "tools/serve/tensors.h"

namespace tenon::serve {
namespace {

const TensorSpec* Named(const std::vector<TensorSpec>& specs, absl::string_view name) {
  for (const TensorSpec& spec : specs) {
    if (spec.name == name) return &spec;
  }
  return nullptr;
}

bool HasFreeRows(const Signature& signature) {
  const auto free = [](const TensorSpec& spec) {
    return spec.dims.has_value() && !spec.dims->empty() && spec.dims->front() == -1 &&
           !spec.optional;
  };
  return !signature.inputs.empty() &&
         std::all_of(signature.inputs.begin(), signature.inputs.end(), free) &&
         std::all_of(signature.outputs.begin(), signature.outputs.end(), free);
}

}  // namespace

const TensorSpec* Runnable::Input(absl::string_view name) const {
  return Named(signature.inputs, name);
}

const TensorSpec* Runnable::Output(absl::string_view name) const {
  return Named(signature.outputs, name);
}

absl::StatusOr<std::shared_ptr<Servable>> Servable::Load(const std::string& name, int64_t version,
                                                         const std::string& path,
                                                         const LoadOptions& options) {
  std::shared_ptr<Servable> servable(new Servable(name, version, path, options));
  try {
    const Model model = Model::Open(path);
    for (Signature& signature : model.signatures()) {
      auto runnable = std::make_unique<Runnable>();
      runnable->free_rows = HasFreeRows(signature);
      runnable->signature = std::move(signature);
      const std::string key = runnable->signature.name;
      runnable->metrics = Metrics::Get().For(name, version, key);
      servable->runnables_.emplace(key, std::move(runnable));
    }
  } catch (const Error& error) {
    return ToStatus(error);
  }
  Runnable* const first = servable->Default();
  if (first == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(path, " has no signatures"));
  }
  const auto session = servable->Loaded(*first);
  if (!session.ok()) return session.status();
  return servable;
}

Runnable* Servable::Find(absl::string_view signature) const {
  const auto found =
      runnables_.find(signature.empty() ? std::string(kDefaultSignature) : std::string(signature));
  return found == runnables_.end() ? nullptr : found->second.get();
}

Runnable* Servable::Default() const {
  if (Runnable* const found = Find("")) return found;
  return runnables_.empty() ? nullptr : runnables_.begin()->second.get();
}

absl::StatusOr<Session*> Servable::Loaded(Runnable& runnable) const {
  const std::lock_guard<std::mutex> lock(runnable.mutex);
  if (runnable.session.has_value()) return &*runnable.session;
  if (!runnable.status.ok()) return runnable.status;
  AboutToTakeLong();
  SessionOptions options;
  options.threads = options_.threads;
  options.cache_dir = options_.cache_dir;
  options.precision = options_.precision;
  options.tags = options_.tags;
  options.memory_limit = options_.memory_limit;
  options.signature = runnable.signature.name;
  try {
    runnable.session.emplace(path_, options);
    return &*runnable.session;
  } catch (const Error& error) {
    runnable.status = ToStatus(error);
    return runnable.status;
  }
}

absl::StatusOr<std::vector<Tensor>> Servable::Run(
    Runnable& runnable, const std::vector<std::pair<std::string, Tensor>>& inputs,
    const std::vector<std::string>& outputs, std::chrono::nanoseconds timeout) {
  const auto session = Loaded(runnable);
  if (!session.ok()) return session.status();
  try {
    RunOptions options;
    options.timeout = timeout;
    return (*session)->RunNamed(inputs, outputs, options);
  } catch (const Error& error) {
    return ToStatus(error);
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError("out of memory");
  }
}

bool Servable::RowsApart(Runnable& runnable,
                         const std::vector<std::pair<std::string, Tensor>>& inputs) const {
  constexpr size_t kMostShapes = 1000;  // of which it is remembered
  std::string key;
  for (const auto& [input, tensor] : inputs) {
    const std::vector<int64_t> dims = tensor.dims();
    absl::StrAppend(&key, input, " ", static_cast<int>(tensor.dtype()));
    for (size_t d = 1; d < dims.size(); ++d) absl::StrAppend(&key, ",", dims[d]);
    absl::StrAppend(&key, ";");
  }
  const auto session = Loaded(runnable);
  if (!session.ok()) return false;
  const std::lock_guard<std::mutex> lock(runnable.mutex);
  const auto known = runnable.rows_apart.find(key);
  if (known != runnable.rows_apart.end()) return known->second;
  if (runnable.rows_apart.size() >= kMostShapes) return false;
  try {
    (*session)->CheckRows(inputs);
    return runnable.rows_apart[key] = true;
  } catch (const Error& error) {
    if (error.code() == TENON_FAILED_PRECONDITION) {
      LogWarning("requests are not put into batches", {{"model", name_},
                                                       {"version", absl::StrCat(version_)},
                                                       {"signature", runnable.signature.name},
                                                       {"reason", error.what()}});
    }
    return runnable.rows_apart[key] = false;
  }
}

int64_t Servable::Bytes() const {
  int64_t bytes = 0;
  for (const auto& [name, runnable] : runnables_) {
    const std::lock_guard<std::mutex> lock(runnable->mutex);
    if (!runnable->session.has_value()) continue;
    try {
      const tenon_memory memory = runnable->session->Memory();
      bytes += memory.weights + memory.packed + memory.plans + memory.primitives;
    } catch (const Error&) {
      continue;
    }
  }
  return bytes;
}

}  // namespace tenon::serve
