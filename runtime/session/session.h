// A session: a model loaded, rewritten once, and run as often as one likes, by several threads at
// once.
//
//   TENON_ASSIGN_OR_RETURN(auto session, Session::Load("model_dir", {}, {}));
//   TENON_ASSIGN_OR_RETURN(auto outputs, session->Run({{"image", image}}));
#ifndef TENON_RUNTIME_SESSION_SESSION_H_
#define TENON_RUNTIME_SESSION_SESSION_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "env/bounded_cache.h"
#include "env/flags.h"
#include "graph/graph.h"
#include "graph/tensor.h"
#include "graph_rewrite/pipeline.h"
#include "proto/import/model.h"
#include "runtime/execution/plan.h"

namespace tenon {

struct DiskCacheEntry;

struct SessionOptions {
  // From the environment where not given.
  std::optional<Flags> flags;
  // That one op may use. 0: TF_NUM_INTRAOP_THREADS, then OMP_NUM_THREADS, then the CPUs that this
  // process may use.
  int threads = 0;
  // kBfloat16 where the CPU has instructions for it, else float: see SessionReport::note. Not
  // given: TF_SET_ONEDNN_FPMATH_MODE.
  std::optional<Precision> precision = std::nullopt;
  // Where Load keeps what the next start can use (disk_cache.h); empty: TENON_CACHE_DIR.
  std::string cache_dir = "";
  // Device plug-ins to load besides those of TENON_PLUGIN_PATH: files, or folders of them.
  std::vector<std::string> plugins = {};
  // Where nodes go that it has a kernel for ("APU:0"); empty: the CPU, but for nodes of the model
  // that name a loaded device.
  std::string device = "";
};

// What the cache on disk did for a session.
struct DiskCacheReport {
  enum class State {
    kOff,      // not asked for
    kPending,  // will be written with the first plan
    kWritten,
    kRead,    // this session came from it
    kFailed,  // see status; the session is none the worse
  };
  State state = State::kOff;
  absl::Status status;
};

// Bytes that a session holds, as far as it can tell.
struct SessionBytes {
  int64_t weights = 0;     // plain values of constants
  int64_t packed = 0;      // what kernels made of them
  int64_t plans = 0;       // the plans that are kept, and the arenas of their runs
  int64_t primitives = 0;  // an estimate: oneDNN does not tell
  int64_t total() const { return weights + packed + plans + primitives; }
};

// What happened to the graph when the session was made.
struct SessionReport {
  absl::Status status;  // not OK: rewriting failed, and the model runs as it was written
  std::string note;     // what was asked for and could not be had; mostly empty
  RewriteReport rewrite;
};

struct TensorInfo {
  std::string name;
  DType dtype = DType::kInvalid;
  Shape shape = Shape::Unknown();
  bool optional = false;  // has a default, or no output needs it
};

using NamedTensor = std::pair<std::string, Tensor>;

class Session {
 public:
  // Rewrites `graph` (unless TF_ENABLE_ONEDNN_OPTS is off). A failing rewrite is no error: see
  // report().
  static absl::StatusOr<std::unique_ptr<Session>> Create(Graph graph,
                                                         const SessionOptions& options);
  // Loads the model first: through the cache on disk where there is a folder for it.
  static absl::StatusOr<std::unique_ptr<Session>> Load(const std::string& path,
                                                       const LoadOptions& load,
                                                       const SessionOptions& options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // In the order of the graph's inputs() and outputs(). Output dtypes and shapes are what is known
  // before any input is.
  const std::vector<TensorInfo>& inputs() const { return inputs_; }
  const std::vector<TensorInfo>& outputs() const { return outputs_; }

  // By position: an invalid tensor stands for an optional input that is left out. Thread-safe.
  // InvalidArgument where an input is missing or has the wrong dtype, rank or dimensions.
  absl::StatusOr<std::vector<Tensor>> Run(absl::Span<const Tensor> inputs,
                                          StepObserver* observer = nullptr);
  // By name: every output, in order.
  absl::StatusOr<std::vector<NamedTensor>> Run(absl::Span<const NamedTensor> inputs);

  // The plan that Run uses for these inputs (built where there is none yet).
  absl::StatusOr<std::shared_ptr<const Plan>> PlanFor(absl::Span<const Tensor> inputs);
  // Inputs by name put in order; errors as in Run.
  absl::StatusOr<std::vector<Tensor>> Arrange(absl::Span<const NamedTensor> inputs) const;

  // The variables that the model changes, by name, sorted. (Those that it only reads are
  // constants.)
  const std::vector<std::string>& VariableNames() const { return variable_names_; }
  // Variables keep their values from run to run. NotFound where there is none of that name;
  // FailedPrecondition while it has no value.
  absl::StatusOr<Tensor> ReadVariable(absl::string_view name) const;
  // InvalidArgument where the dtype or the shape is not the variable's.
  absl::Status AssignVariable(absl::string_view name, const Tensor& value);

  const Flags& flags() const;
  int threads() const;
  // Nodes that were placed on devices of plug-ins.
  int nodes_on_devices() const;
  const SessionReport& report() const { return report_; }
  CacheStats plan_stats() const;
  CacheStats kernel_stats() const;
  DiskCacheReport disk_cache() const;
  // Why the last batch that should run in parts (batch_split.h) runs whole; OK: none does.
  absl::Status split_status() const;
  SessionBytes bytes() const;

 private:
  struct State;
  Session();

  static absl::StatusOr<std::unique_ptr<Session>> New(const SessionOptions& options);
  absl::Status Rewrite(Graph graph);
  absl::Status Start(Graph graph);
  absl::Status ReadFromDisk(const DiskCacheEntry& entry);
  absl::StatusOr<std::shared_ptr<const Plan>> BuildPlanFor(absl::Span<const TensorSpec> feeds,
                                                           const std::vector<bool>& free_rows);
  void AfterPlan();
  absl::Status CheckInputs(absl::Span<const Tensor> inputs) const;

  std::unique_ptr<State> state_;
  std::vector<TensorInfo> inputs_;
  std::vector<TensorInfo> outputs_;
  std::vector<std::string> variable_names_;
  SessionReport report_;
};

}  // namespace tenon

#endif  // TENON_RUNTIME_SESSION_SESSION_H_
