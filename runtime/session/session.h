// A session: a model that is loaded and rewritten once, and then run any number of times, by
// several threads at once if desired. What fails for want of memory, or of threads, gives
// ResourceExhausted, and the session stays as usable as before.
//
//   TENON_ASSIGN_OR_RETURN(auto session, Session::Load("model_dir", {}, {}));
//   TENON_ASSIGN_OR_RETURN(auto outputs, session->Run({{"image", image}}));
#ifndef TENON_RUNTIME_SESSION_SESSION_H_
#define TENON_RUNTIME_SESSION_SESSION_H_

#include <cstdint>
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

class ModelState;
struct DiskCacheEntry;

struct SessionOptions {
  // Taken from the environment if not given.
  std::optional<Flags> flags;
  // The number of threads per op. 0: TF_NUM_INTRAOP_THREADS, then OMP_NUM_THREADS, then the number
  // of CPUs that this process may use.
  int threads = 0;
  // kBfloat16 falls back to float if the CPU has no instructions for it (see SessionReport::note).
  // If not given: TF_SET_ONEDNN_FPMATH_MODE.
  std::optional<Precision> precision = std::nullopt;
  // The folder of the disk cache (disk_cache.h); empty: TENON_CACHE_DIR.
  std::string cache_dir = "";
  // Device plug-ins to load besides those of TENON_PLUGIN_PATH: files, or folders of them.
  std::vector<std::string> plugins = {};
  // The device that runs the nodes for which it has a kernel ("APU:0"); empty: the CPU, except for
  // nodes of the model that name a loaded device.
  std::string device = "";
  // The most bytes that the session's weights, plans and runs may take; 0: no limit. What does not
  // fit is a ResourceExhausted error that names the node (docs/LIMITS.md has what counts).
  int64_t memory_limit = 0;
  // Plans, and those of loops' bodies, whose steps take less than both run on the calling thread.
  // For sessions whose threads sleep between runs; by default there are no such plans.
  SmallRuns small_runs = {};
};

// How a session used the disk cache.
struct DiskCacheReport {
  enum class State {
    kOff,      // not requested
    kPending,  // will be written with the first plan
    kWritten,
    kRead,    // this session came from it
    kFailed,  // see status; the session itself is unaffected
  };
  State state = State::kOff;
  absl::Status status;
};

// Bytes that a session holds, as far as it knows.
struct SessionBytes {
  int64_t weights = 0;     // plain values of constants
  int64_t packed = 0;      // forms that kernels made from them
  int64_t plans = 0;       // the plans that are kept, and the arenas of their runs
  int64_t primitives = 0;  // an estimate: oneDNN does not report it
  int64_t total() const { return weights + packed + plans + primitives; }
};

// What counts against SessionOptions::memory_limit.
struct MemoryUsed {
  int64_t limit = 0;
  int64_t held = 0;  // now
  int64_t peak = 0;  // the most so far
};

// What happened to the graph when the session was made.
struct SessionReport {
  absl::Status status;  // not OK: rewriting failed, and the model runs unchanged
  std::string note;     // a request that could not be met; usually empty
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
  // Rewrites `graph` (unless TF_ENABLE_ONEDNN_OPTS is off). If rewriting fails, Create still
  // succeeds: see report(). Memory that the graph has before is not counted.
  static absl::StatusOr<std::unique_ptr<Session>> Create(Graph graph,
                                                         const SessionOptions& options);
  static absl::StatusOr<std::unique_ptr<Session>> Create(Model model,
                                                         const SessionOptions& options);
  // Loads the model first, through the disk cache if it has a folder.
  static absl::StatusOr<std::unique_ptr<Session>> Load(const std::string& path,
                                                       const LoadOptions& load,
                                                       const SessionOptions& options);
  // The same from the bytes of a model (ParseModel), without the disk cache.
  static absl::StatusOr<std::unique_ptr<Session>> Parse(absl::string_view bytes,
                                                        const LoadOptions& load,
                                                        const SessionOptions& options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // In the order of the graph's inputs() and outputs(). For the shapes of outputs see
  // OutputShapes().
  const std::vector<TensorInfo>& inputs() const { return inputs_; }
  const std::vector<TensorInfo>& outputs() const { return outputs_; }
  // By output: what the signature states, with what follows from the shapes of the inputs. The
  // first call infers it.
  const std::vector<Shape>& OutputShapes() const;

  // By position: an invalid tensor, or none at the end, omits an optional input. Thread-safe.
  // InvalidArgument if an input is missing or has the wrong dtype, rank or dimensions, or if a
  // tensor of options.into has another dtype or shape than its output. The results are in the
  // caller's memory where there is some.
  absl::StatusOr<std::vector<Tensor>> Run(absl::Span<const Tensor> inputs,
                                          const RunOptions& options = {});
  // By name: every output, in order. A GraphDef's placeholders that no output needs may be given.
  absl::StatusOr<std::vector<NamedTensor>> Run(absl::Span<const NamedTensor> inputs,
                                               const RunOptions& options = {});

  // The plan that Run uses for these inputs (built if there is none yet).
  absl::StatusOr<std::shared_ptr<const Plan>> PlanFor(absl::Span<const Tensor> inputs);
  // Whether callers may give a tensor of this name.
  bool Takes(absl::string_view name) const;
  // Puts inputs given by name in order; errors as in Run.
  absl::StatusOr<std::vector<Tensor>> Arrange(absl::Span<const NamedTensor> inputs) const;
  // OK if one run on the rows (axis 0) of several calls' inputs gives each its results, for inputs
  // of these shapes but for their rows. Otherwise FailedPrecondition with the node about which this
  // is not known.
  absl::Status CheckRowsApart(absl::Span<const Tensor> inputs) const;
  // The plans that are kept or running, with the inputs that they were made for (an invalid dtype:
  // omitted), oldest first.
  struct KeptPlan {
    std::vector<TensorSpec> inputs;
    std::shared_ptr<const Plan> plan;
  };
  std::vector<KeptPlan> Plans() const;

  // The names of the variables that the model changes, sorted. (Variables that it only reads are
  // constants.)
  const std::vector<std::string>& VariableNames() const { return variable_names_; }
  // Variables keep their values between runs. NotFound if there is none of that name;
  // FailedPrecondition if it has no value yet.
  absl::StatusOr<Tensor> ReadVariable(absl::string_view name) const;
  // InvalidArgument if the dtype or the shape differs from the variable's.
  absl::Status AssignVariable(absl::string_view name, const Tensor& value);

  const Flags& flags() const;
  // The most threads that a run uses; on a busy machine it may be fewer (env/team_size.h).
  int threads() const;
  // How many runs used fewer.
  int64_t small_team_runs() const;
  // The number of nodes placed on plug-ins' devices.
  int nodes_on_devices() const;
  const SessionReport& report() const { return report_; }
  CacheStats plan_stats() const;
  // Of the functions that control flow calls: loops' bodies and conditions, branches.
  CacheStats function_plan_stats() const;
  CacheStats kernel_stats() const;
  DiskCacheReport disk_cache() const;
  // Why the last batch that should have been split (batch_split.h) was not; OK if there is none.
  absl::Status split_status() const;
  SessionBytes bytes() const;
  // Nothing is counted without a limit.
  std::optional<MemoryUsed> memory_used() const;

 private:
  struct State;
  Session();

  static absl::StatusOr<std::unique_ptr<Session>> New(const SessionOptions& options);
  // What the public functions do; these may throw std::bad_alloc.
  static absl::StatusOr<std::unique_ptr<Session>> LoadOrThrow(const std::string& path,
                                                              const LoadOptions& load,
                                                              const SessionOptions& options);
  absl::StatusOr<std::shared_ptr<const Plan>> GetPlan(absl::Span<const Tensor> inputs, int threads);
  // How many threads the next run uses.
  struct Team {
    int threads = 1;
    std::shared_ptr<const Plan> plan;  // null if they are all
  };
  Team TeamFor(absl::Span<const Tensor> inputs, const RunOptions& options);
  absl::StatusOr<std::vector<Tensor>> RunAligned(absl::Span<const Tensor> inputs,
                                                 const RunOptions& options);
  absl::StatusOr<std::vector<Tensor>> PutInOrder(absl::Span<const NamedTensor> inputs) const;
  absl::Status Rewrite(Graph graph);
  absl::Status Start(Graph graph);
  absl::Status ReadFromDisk(const DiskCacheEntry& entry);
  // What plans for these inputs are made for.
  struct Feeds {
    std::vector<TensorSpec> specs;
    std::vector<bool> free_rows;  // whether the model states no number of rows
  };
  Feeds FeedsOf(absl::Span<const Tensor> inputs) const;
  // The model, or its form for these feeds (BranchForms).
  absl::StatusOr<std::shared_ptr<const ModelState>> ModelFor(const Feeds& feeds);
  absl::StatusOr<std::shared_ptr<const Plan>> BuildPlanFor(const Feeds& feeds, int threads);
  void AfterPlan();
  void Remember(absl::Span<const Tensor> inputs, const std::shared_ptr<const Plan>& plan);
  absl::StatusOr<std::vector<Tensor>> RunChecked(absl::Span<const Tensor> inputs,
                                                 const RunOptions& options);
  absl::Status CheckInputs(absl::Span<const Tensor> inputs) const;

  std::unique_ptr<State> state_;
  std::vector<TensorInfo> inputs_;
  std::vector<TensorInfo> outputs_;
  std::vector<std::string> variable_names_;
  SessionReport report_;
};

}  // namespace tenon

#endif  // TENON_RUNTIME_SESSION_SESSION_H_
