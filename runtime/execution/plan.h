// The interface of a plan: a graph compiled for given input shapes. Immutable, run by any number of
// threads at once. FlatPlan (flat_plan.h) is a list of steps; SplitPlan (runtime/plan/split_plan.h)
// runs another plan for a few rows at a time.
#ifndef TENON_RUNTIME_EXECUTION_PLAN_H_
#define TENON_RUNTIME_EXECUTION_PLAN_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/tensor.h"
#include "ops/evaluate.h"
#include "runtime/execution/run_options.h"

namespace tenon {

// What runs, in step order; for reports and profiles.
struct StepInfo {
  std::string node;
  std::string op;
  std::string implementation;  // "" if it is determined at run time
  double flops = 0;
  int64_t bytes = 0;  // of inputs and outputs, weights included, as far as shapes are known ahead
  bool accelerated = false;
  bool dynamic = false;
  std::string device;  // "" for the CPU
};

// A piece of the arena while it is in use.
struct ArenaUse {
  size_t offset = 0, bytes = 0;
  int first = 0, last = 0;  // steps: the one that writes it, and the last one that reads it
  bool scratch = false;     // of one kernel
};

struct PlanStats {
  int nodes = 0;  // live nodes of the graph
  int steps = 0;
  int evaluated = 0;         // nodes computed during planning
  int aliased = 0;           // nodes that only pass memory on
  int in_place = 0;          // outputs written over an input
  int on_device = 0;         // nodes that run on a plug-in's device
  int copies_to_device = 0;  // in each run
  int copies_to_host = 0;
  size_t arena_bytes = 0;
  size_t unshared_bytes = 0;  // what the arena's tensors would need without sharing
};

class Plan {
 public:
  virtual ~Plan() = default;

  // `feeds` have the dtypes and shapes that the plan was made for (checked by the caller), and are
  // aligned to their element size. The outputs are in the order of Graph::outputs(), each in memory
  // of its own or the caller's. Errors name the node.
  absl::StatusOr<std::vector<Tensor>> Run(absl::Span<const Tensor> feeds,
                                          const RunOptions& options = {}) const {
    return DoRun(feeds, options);
  }

  // The time of the fastest run, in seconds; kept by whoever measures runs.
  std::atomic<double>& best_seconds() const { return best_seconds_; }

  virtual const PlanStats& stats() const = 0;
  virtual std::vector<StepInfo> Describe() const = 0;
  // How tensors share the arena, in no particular order.
  virtual absl::Span<const ArenaUse> arena_use() const = 0;
  // The bytes of steps, tables, precomputed values, and of states kept between runs. Weights (in
  // the model), kernels and arenas (in the model's pool) are counted elsewhere.
  virtual size_t HeldBytes() const = 0;
  // By step; null: none was prepared ahead.
  virtual absl::Span<const std::shared_ptr<const PreparedKernel>> kernels() const = 0;

 private:
  virtual absl::StatusOr<std::vector<Tensor>> DoRun(absl::Span<const Tensor> feeds,
                                                    const RunOptions& options) const = 0;

  mutable std::atomic<double> best_seconds_ = std::numeric_limits<double>::infinity();
};

}  // namespace tenon

#endif  // TENON_RUNTIME_EXECUTION_PLAN_H_
