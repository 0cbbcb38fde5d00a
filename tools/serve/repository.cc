#include "tools/serve/repository.h"

#include <malloc.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "tools/serve/log.h"
#include "tools/serve/metrics.h"
#include "tools/serve/thread_choice.h"

namespace tenon::serve {
namespace {

namespace fs = std::filesystem;
using tensorflow::serving::ModelConfig;
using tensorflow::serving::ModelServerConfig;
using tensorflow::serving::ModelSpec;
using Policy = tensorflow::serving::FileSystemStoragePathSourceConfig::ServableVersionPolicy;

// The subfolders whose names are numbers, by version.
absl::StatusOr<std::map<int64_t, std::string>> VersionsOnDisk(const std::string& base_path) {
  std::map<int64_t, std::string> versions;
  std::error_code error;
  fs::directory_iterator it(base_path, error);
  for (; !error && it != fs::directory_iterator(); it.increment(error)) {
    const std::string name = it->path().filename();
    int64_t version;
    const bool digits = name.find_first_not_of("0123456789") == std::string::npos;
    std::error_code ignored;
    if (digits && absl::SimpleAtoi(name, &version) && it->is_directory(ignored)) {
      versions[version] = it->path();
    }
  }
  if (error) {
    return absl::NotFoundError(
        absl::StrCat("Could not find base path ", base_path, ": ", error.message()));
  }
  return versions;
}

// Changes when a file below `path` grows or is replaced.
std::string Fingerprint(const std::string& path) {
  std::string print;
  std::error_code error;
  fs::recursive_directory_iterator it(path, error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    std::error_code ignored;
    if (!it->is_regular_file(ignored)) continue;
    absl::StrAppend(&print, it->path().string(), " ", it->file_size(ignored), " ",
                    it->last_write_time(ignored).time_since_epoch().count(), "\n");
  }
  return print;
}

}  // namespace

std::set<int64_t> WantedVersions(const Policy& policy, const std::set<int64_t>& found) {
  std::set<int64_t> wanted;
  switch (policy.policy_choice_case()) {
    case Policy::kAll:
      return found;
    case Policy::kSpecific:
      for (const int64_t version : policy.specific().versions()) {
        if (found.count(version) > 0) wanted.insert(version);
      }
      return wanted;
    default: {
      const size_t n = std::max<size_t>(1, policy.latest().num_versions());
      for (auto it = found.rbegin(); it != found.rend() && wanted.size() < n; ++it) {
        wanted.insert(*it);
      }
      return wanted;
    }
  }
}

Repository::Repository(const RepositoryOptions& options) : options_(options) {
  if (options_.poll.count() > 0) poller_ = std::thread([this] { Poll(); });
}

Repository::~Repository() { Close(); }

void Repository::Close() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  if (poller_.joinable()) poller_.join();
  const std::lock_guard<std::mutex> synchronize(synchronize_);
  const std::lock_guard<std::mutex> lock(mutex_);
  models_.clear();
}

absl::Status Repository::Validate(const ModelServerConfig& config) const {
  std::set<std::string> names;
  for (const ModelConfig& model : config.model_config_list().config()) {
    if (model.name().empty()) return absl::InvalidArgumentError("a model has no name");
    if (!names.insert(model.name()).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("Illegal to list model ", model.name(), " multiple times in config list"));
    }
    if (absl::StrContains(model.base_path(), "://")) {
      return absl::InvalidArgumentError(absl::StrCat("Model ", model.name(), " is at ",
                                                     model.base_path(),
                                                     ": only local paths are supported"));
    }
    if (!absl::StartsWith(model.base_path(), "/")) {
      return absl::InvalidArgumentError(
          absl::StrCat("Expected model ", model.name(),
                       " to have an absolute path or URI; got base_path()=", model.base_path()));
    }
    const std::string& platform = model.model_platform();
    if (!platform.empty() && platform != "tensorflow") {
      return absl::InvalidArgumentError(
          absl::StrCat("Model ", model.name(), " requests unsupported platform ", platform));
    }
    if (model.model_type() == tensorflow::serving::OTHER) {
      return absl::InvalidArgumentError("ModelServerConfig::model_type choice 2 not supported.");
    }
  }
  return absl::OkStatus();
}

absl::Status Repository::ValidateLabels(const tensorflow::serving::ModelConfigList& config) const {
  if (options_.labels_for_unavailable) return absl::OkStatus();
  for (const ModelConfig& model : config.config()) {
    const auto entry = models_.find(model.name());
    for (const auto& [label, version] : model.version_labels()) {
      const bool available = entry != models_.end() && entry->second.versions.count(version) > 0 &&
                             entry->second.versions.at(version).state == VersionState::kAvailable;
      if (!available) {
        return absl::FailedPreconditionError(
            absl::StrCat("Request to assign label to version ", version, " of model ", model.name(),
                         ", which is not currently available for inference"));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status Repository::Configure(const ModelServerConfig& config) {
  if (config.config_case() == ModelServerConfig::kCustomModelConfig) {
    return absl::UnimplementedError(
        "ServerModelConfig type not supported by HandleReloadConfigRequest. Only ModelConfigList "
        "is currently supported");
  }
  const absl::Status valid = Validate(config);
  if (!valid.ok()) return valid;
  std::map<std::string, google::protobuf::Map<std::string, int64_t>> old_labels;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto& [name, entry] : models_) entry.wanted = false;
    for (const ModelConfig& model : config.model_config_list().config()) {
      ModelEntry& entry = models_[model.name()];
      old_labels[model.name()] = entry.config.version_labels();
      // Another base path has other models under the same version numbers.
      if (entry.config.base_path() != model.base_path()) entry.complaint.clear();
      entry.wanted = true;
      entry.config = model;
      *entry.config.mutable_version_labels() = old_labels[model.name()];
    }
  }
  Synchronize();
  // Labels last: they may name a version that has just been loaded.
  const std::lock_guard<std::mutex> lock(mutex_);
  configured_ = true;
  const absl::Status labels = ValidateLabels(config.model_config_list());
  if (!labels.ok()) return labels;
  for (const ModelConfig& model : config.model_config_list().config()) {
    *models_[model.name()].config.mutable_version_labels() = model.version_labels();
  }
  return absl::OkStatus();
}

void Repository::Poll() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    wake_.wait_for(lock, options_.poll, [this] { return ending_; });
    if (ending_) return;
    if (!configured_) continue;
    lock.unlock();
    Synchronize();
    lock.lock();
  }
}

void Repository::Synchronize() {
  const std::lock_guard<std::mutex> synchronize(synchronize_);
  for (const std::string& name : Names()) SynchronizeModel(name);
  for (const auto& servable : Servables()) {
    Metrics::Get().Bytes(servable->name(), servable->version(), servable->Bytes());
  }
}

bool Repository::ShouldLoad(const Version& version, const std::string& path) const {
  switch (version.state) {
    case VersionState::kStart:
      return true;
    case VersionState::kEnd: {
      if (version.status.ok()) return true;  // it was unloaded, and is wanted again
      // At once if its files changed: it may have been copied only half.
      if (Fingerprint(path) != version.fingerprint) return true;
      return version.failures <= options_.max_load_retries &&
             std::chrono::steady_clock::now() - version.failed_at >= options_.retry_interval;
    }
    default:
      return false;
  }
}

void Repository::SynchronizeModel(const std::string& name) {
  std::string base_path;
  Policy policy;
  bool wanted_model;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const ModelEntry& entry = models_.at(name);
    base_path = entry.config.base_path();
    policy = entry.config.model_version_policy();
    wanted_model = entry.wanted;
  }
  std::map<int64_t, std::string> found;
  std::string complaint;
  if (wanted_model) {
    auto on_disk = VersionsOnDisk(base_path);
    if (!on_disk.ok()) {
      complaint = std::string(on_disk.status().message());
    } else if (on_disk->empty()) {
      complaint = absl::StrCat("No versions of servable ", name, " found under base path ",
                               base_path, ": its subfolders must be named by numbers");
    } else {
      found = *std::move(on_disk);
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    ModelEntry& entry = models_.at(name);
    if (!complaint.empty() && complaint != entry.complaint) {
      LogWarning(complaint, {{"model", name}});
    }
    entry.complaint = complaint;
    // A folder that cannot be read says nothing about the versions in it.
    if (!on_disk.ok()) return;
  }
  std::set<int64_t> versions;
  for (const auto& [version, path] : found) versions.insert(version);
  const std::set<int64_t> wanted = WantedVersions(policy, versions);
  std::vector<std::pair<int64_t, std::string>> load;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ModelEntry& entry = models_.at(name);
    for (const int64_t version : wanted) {
      Version& v = entry.versions[version];
      const bool moved = v.servable != nullptr && v.servable->path() != found[version];
      if (moved || ShouldLoad(v, found[version])) load.emplace_back(version, found[version]);
    }
  }
  for (const auto& [version, path] : load) LoadVersion(name, version, path);
  std::vector<int64_t> unload;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ModelEntry& entry = models_.at(name);
    const bool served = std::any_of(wanted.begin(), wanted.end(), [&](int64_t version) {
      return entry.versions[version].state == VersionState::kAvailable;
    });
    for (const auto& [version, v] : entry.versions) {
      if (wanted.count(version) > 0 || v.state != VersionState::kAvailable) continue;
      // An old version serves until a new one does.
      if (served || wanted.empty()) unload.push_back(version);
    }
  }
  for (const int64_t version : unload) UnloadVersion(name, version);
  ForgetVersions(name, versions);
  if (!wanted_model) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [version, v] : models_.at(name).versions) {
      Metrics::Get().Unloaded(name, version, v.path);
    }
    models_.erase(name);
  }
}

void Repository::ForgetVersions(const std::string& name, const std::set<int64_t>& on_disk) {
  constexpr size_t kMost = 100;  // whose end clients may still ask about
  const std::lock_guard<std::mutex> lock(mutex_);
  auto& versions = models_.at(name).versions;
  std::vector<int64_t> gone;
  for (const auto& [version, v] : versions) {
    if (v.state == VersionState::kEnd && on_disk.count(version) == 0) gone.push_back(version);
  }
  for (size_t i = 0; i + kMost < gone.size(); ++i) {
    Metrics::Get().Unloaded(name, gone[i], versions[gone[i]].path);
    versions.erase(gone[i]);
  }
}

void Repository::LoadVersion(const std::string& name, int64_t version, const std::string& path) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    Version& v = models_.at(name).versions[version];
    if (v.state != VersionState::kAvailable) v.state = VersionState::kLoading;
  }
  const std::string fingerprint = Fingerprint(path);
  const auto start = std::chrono::steady_clock::now();
  auto servable = options_.load.threads > 0
                      ? Servable::Load(name, version, path, options_.load)
                      : LoadWithMeasuredThreads(name, version, path, options_.load, options_.cpus);
  if (servable.ok() && options_.warm_up) {
    const absl::Status warm = options_.warm_up(*servable);
    if (!warm.ok()) servable = warm;
  }
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - start);
  const std::string number = absl::StrCat(version);
  const std::lock_guard<std::mutex> lock(mutex_);
  Version& v = models_.at(name).versions[version];
  if (servable.ok()) {
    v = Version{VersionState::kAvailable, absl::OkStatus(), *std::move(servable), path, 0, {}, ""};
    LogInfo("loaded", {{"model", name}, {"version", number}, {"ms", absl::StrCat(took.count())}});
  } else {
    v.state = VersionState::kEnd;
    v.status = servable.status();
    v.servable = nullptr;
    v.path = path;
    v.failed_at = std::chrono::steady_clock::now();
    v.failures = v.fingerprint == fingerprint ? v.failures + 1 : 1;
    v.fingerprint = fingerprint;
    LogError("cannot load",
             {{"model", name}, {"version", number}, {"reason", std::string(v.status.message())}});
  }
  Metrics::Get().Available(name, version, v.state == VersionState::kAvailable);
}

void Repository::UnloadVersion(const std::string& name, int64_t version) {
  std::shared_ptr<Servable> servable;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    Version& v = models_.at(name).versions[version];
    v.state = VersionState::kUnloading;
    servable = std::move(v.servable);
  }
  Metrics::Get().Available(name, version, false);
  // Requests that have it finish first.
  while (servable.use_count() > 1) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const std::string path = servable == nullptr ? "" : servable->path();
  servable.reset();
  malloc_trim(0);
  Metrics::Get().Unloaded(name, version, path);
  LogInfo("unloaded", {{"model", name}, {"version", absl::StrCat(version)}});
  const std::lock_guard<std::mutex> lock(mutex_);
  Version& v = models_.at(name).versions[version];
  v.state = VersionState::kEnd;
  v.status = absl::OkStatus();
}

absl::StatusOr<std::optional<int64_t>> Repository::AskedVersion(const ModelSpec& spec) const {
  if (spec.version_choice_case() != ModelSpec::kVersionLabel) {
    return spec.has_version() ? std::optional<int64_t>(spec.version().value()) : std::nullopt;
  }
  const auto entry = models_.find(spec.name());
  if (entry != models_.end()) {
    const auto& labels = entry->second.config.version_labels();
    const auto found = labels.find(spec.version_label());
    if (found != labels.end()) return found->second;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("Unrecognized servable version label: ", spec.version_label()));
}

absl::StatusOr<std::shared_ptr<Servable>> Repository::Find(const ModelSpec& spec) const {
  if (spec.name().empty()) {
    return absl::InvalidArgumentError("ModelSpec has no name specified.");
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto asked = AskedVersion(spec);
  if (!asked.ok()) return asked.status();
  const std::optional<int64_t> version = *asked;
  const auto entry = models_.find(spec.name());
  if (entry != models_.end()) {
    const auto& versions = entry->second.versions;
    for (auto it = versions.rbegin(); it != versions.rend(); ++it) {
      if (it->second.state != VersionState::kAvailable) continue;
      if (!version.has_value() || *version == it->first) return it->second.servable;
    }
  }
  return absl::NotFoundError(
      version.has_value()
          ? absl::StrCat("Servable not found for request: Specific(", spec.name(), ", ", *version,
                         ")")
          : absl::StrCat("Servable not found for request: Latest(", spec.name(), ")"));
}

absl::StatusOr<std::vector<VersionStatus>> Repository::Statuses(const ModelSpec& spec) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto asked = AskedVersion(spec);
  if (!asked.ok()) return asked.status();
  const std::optional<int64_t> version = *asked;
  std::vector<VersionStatus> statuses;
  const auto entry = models_.find(spec.name());
  if (entry != models_.end()) {
    const auto& versions = entry->second.versions;
    for (auto it = versions.rbegin(); it != versions.rend(); ++it) {
      if (version.has_value() && *version != it->first) continue;
      statuses.push_back({it->first, it->second.state, it->second.status});
    }
  }
  if (!statuses.empty()) return statuses;
  return absl::NotFoundError(
      version.has_value()
          ? absl::StrCat("Could not find version ", *version, " of model ", spec.name())
          : absl::StrCat("Could not find any versions of model ", spec.name()));
}

std::vector<std::string> Repository::Names() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, entry] : models_) names.push_back(name);
  return names;
}

std::vector<std::shared_ptr<Servable>> Repository::Servables() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<std::shared_ptr<Servable>> servables;
  for (const auto& [name, entry] : models_) {
    for (const auto& [version, v] : entry.versions) {
      if (v.state == VersionState::kAvailable) servables.push_back(v.servable);
    }
  }
  return servables;
}

bool Repository::Ready() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!configured_ || ending_) return false;
  bool available = models_.empty();
  for (const auto& [name, entry] : models_) {
    bool done = false;
    for (const auto& [version, v] : entry.versions) {
      available = available || v.state == VersionState::kAvailable;
      done = done || v.state == VersionState::kAvailable || v.state == VersionState::kEnd;
    }
    if (!done && entry.complaint.empty()) return false;
  }
  return available;
}

}  // namespace tenon::serve
