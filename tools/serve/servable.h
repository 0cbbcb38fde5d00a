// One version of a model, loaded.
#ifndef TENON_TOOLS_SERVE_SERVABLE_H_
#define TENON_TOOLS_SERVE_SERVABLE_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "include/tenon/tenon.hpp"
#include "tools/serve/metrics.h"

namespace tenon::serve {

inline constexpr char kDefaultSignature[] = "serving_default";

struct LoadOptions {
  int threads = 0;  // of a run; 0: all CPUs
  std::string cache_dir;
  std::string precision;
  std::string tags;
  int64_t memory_limit = 0;  // of each signature's session, in bytes; 0: none
};

// A signature, with the session that runs it.
struct Runnable {
  Signature signature;
  // Whether inputs and outputs have a free number of rows along axis 0.
  bool free_rows = false;

  const TensorSpec* Input(absl::string_view name) const;
  const TensorSpec* Output(absl::string_view name) const;

  std::shared_ptr<SignatureMetrics> metrics;
  // The mean time of runs, in which the last ones count most; huge before the first.
  std::atomic<float> mean_us{1e30f};
  void Took(float us) { mean_us = mean_us > 1e29f ? us : (mean_us + us) / 2; }

 private:
  friend class Servable;
  std::mutex mutex;
  std::optional<Session> session;
  absl::Status status;
  std::map<std::string, bool> rows_apart;  // by the inputs' dtypes and shapes but for axis 0
};

// What a model did since it was loaded; for statistics.
struct ServableCounts {
  std::atomic<uint64_t> succeeded{0}, failed{0}, rows{0}, runs{0};
  std::atomic<uint64_t> success_ns{0}, fail_ns{0}, queue_ns{0}, compute_ns{0};
  std::atomic<uint64_t> last_ms{0};  // since the epoch
};

// Any thread may use any function.
class Servable {
 public:
  // Loads the default signature, or the only one. Others are loaded when they are first asked for.
  // `path` is a SavedModel's folder. Errors name it.
  static absl::StatusOr<std::shared_ptr<Servable>> Load(const std::string& name, int64_t version,
                                                        const std::string& path,
                                                        const LoadOptions& options);

  const std::string& name() const { return name_; }
  int64_t version() const { return version_; }
  const std::string& path() const { return path_; }
  // Of a run.
  int threads() const { return options_.threads; }
  const std::map<std::string, std::unique_ptr<Runnable>>& signatures() const { return runnables_; }
  // Null if there is none of this name; an empty name stands for serving_default.
  Runnable* Find(absl::string_view signature) const;
  // The one that is run when a protocol has no signatures: serving_default, or the only one, or the
  // first.
  Runnable* Default() const;

  // Inputs and outputs by name.
  absl::StatusOr<std::vector<Tensor>> Run(Runnable& runnable,
                                          const std::vector<std::pair<std::string, Tensor>>& inputs,
                                          const std::vector<std::string>& outputs,
                                          std::chrono::nanoseconds timeout);

  // Whether one run may serve these inputs together with others of the same dtypes and shapes but
  // for axis 0: every op is known to treat rows independently. Logs why not, once.
  bool RowsApart(Runnable& runnable,
                 const std::vector<std::pair<std::string, Tensor>>& inputs) const;

  // Bytes that the loaded sessions hold.
  int64_t Bytes() const;
  ServableCounts& counts() { return counts_; }

 private:
  Servable(std::string name, int64_t version, std::string path, LoadOptions options)
      : name_(std::move(name)),
        version_(version),
        path_(std::move(path)),
        options_(std::move(options)) {}
  absl::StatusOr<Session*> Loaded(Runnable& runnable) const;

  const std::string name_;
  const int64_t version_;
  const std::string path_;
  const LoadOptions options_;
  std::map<std::string, std::unique_ptr<Runnable>> runnables_;
  ServableCounts counts_;
};

}  // namespace tenon::serve

#endif  // TENON_TOOLS_SERVE_SERVABLE_H_
