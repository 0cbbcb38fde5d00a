// The models that are served: BASE_PATH/VERSION/saved_model.pb for each model, with new versions
// loaded and old ones unloaded as they come and go on disk.
#ifndef TENON_TOOLS_SERVE_REPOSITORY_H_
#define TENON_TOOLS_SERVE_REPOSITORY_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "serving.pb.h"
#include "tools/serve/servable.h"

namespace tenon::serve {

struct RepositoryOptions {
  LoadOptions load;  // threads 0: measured for each model
  int cpus = 1;
  std::chrono::milliseconds poll{1000};  // 0: look at the disk once; negative: likewise
  int max_load_retries = 5;
  std::chrono::microseconds retry_interval{60'000'000};
  bool labels_for_unavailable = false;
  // Runs a loaded model before it gets requests; an error means that it is not served. May be
  // empty.
  std::function<absl::Status(const std::shared_ptr<Servable>&)> warm_up;
};

enum class VersionState { kStart = 10, kLoading = 20, kAvailable = 30, kUnloading = 40, kEnd = 50 };

struct VersionStatus {
  int64_t version = 0;
  VersionState state = VersionState::kStart;
  absl::Status status;  // why it could not be loaded
};

class Repository {
 public:
  explicit Repository(const RepositoryOptions& options);
  ~Repository();

  // Serves these models instead of those before. Returns when all of their versions are loaded or
  // have failed. An error of the configuration changes nothing. A model that cannot be loaded is no
  // error here: Statuses has the reason.
  absl::Status Configure(const tensorflow::serving::ModelServerConfig& config);

  // Errors are worded as TensorFlow Serving's.
  absl::StatusOr<std::shared_ptr<Servable>> Find(const tensorflow::serving::ModelSpec& spec) const;
  absl::StatusOr<std::vector<VersionStatus>> Statuses(
      const tensorflow::serving::ModelSpec& spec) const;
  std::vector<std::string> Names() const;
  // Those that are available, by name and version.
  std::vector<std::shared_ptr<Servable>> Servables() const;
  // Whether the models are configured, and at least one version of each is available or has failed.
  bool Ready() const;
  // Unloads everything; later calls find nothing.
  void Close();

 private:
  struct Version {
    VersionState state = VersionState::kStart;
    absl::Status status;
    std::shared_ptr<Servable> servable;
    std::string path;  // that it was loaded from, or could not be
    int failures = 0;
    std::chrono::steady_clock::time_point failed_at;
    std::string fingerprint;  // of the files that could not be loaded
  };
  struct ModelEntry {
    tensorflow::serving::ModelConfig config;
    std::map<int64_t, Version> versions;
    std::string complaint;  // logged last about the base path
    bool wanted = true;     // false: it is removed once its versions are unloaded
  };

  absl::Status Validate(const tensorflow::serving::ModelServerConfig& config) const;
  absl::Status ValidateLabels(const tensorflow::serving::ModelConfigList& config) const;
  void Poll();
  // Loads and unloads what differs from the disk. One at a time.
  void Synchronize();
  void SynchronizeModel(const std::string& name);
  void LoadVersion(const std::string& name, int64_t version, const std::string& path);
  void UnloadVersion(const std::string& name, int64_t version);
  // Forgets the oldest of many versions that have ended and are gone from the disk.
  void ForgetVersions(const std::string& name, const std::set<int64_t>& on_disk);
  bool ShouldLoad(const Version& version, const std::string& path) const;
  // The version that is asked for by number or label, if any. Under the lock.
  absl::StatusOr<std::optional<int64_t>> AskedVersion(
      const tensorflow::serving::ModelSpec& spec) const;

  const RepositoryOptions options_;
  std::mutex synchronize_;    // held while models are loaded and unloaded; before mutex_
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable wake_;
  std::map<std::string, ModelEntry> models_;
  bool configured_ = false;
  bool ending_ = false;
  std::thread poller_;
};

// The versions that a policy wants of those that are on disk.
std::set<int64_t> WantedVersions(
    const tensorflow::serving::FileSystemStoragePathSourceConfig::ServableVersionPolicy& policy,
    const std::set<int64_t>& found);

}  // namespace tenon::serve

#endif  // TENON_TOOLS_SERVE_REPOSITORY_H_
