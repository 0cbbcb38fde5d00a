// Runs a plan. A warm run takes a state from the plan's pool, sets the pointers of feeds and
// outputs, and calls one kernel after the other: no hashing, locks or allocation per step.
#ifndef TENON_RUNTIME_EXECUTION_EXECUTOR_H_
#define TENON_RUNTIME_EXECUTION_EXECUTOR_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/tensor.h"
#include "runtime/plan/plan.h"

namespace tenon {

// Told of each step as it ends; for profiles. Called on the thread that runs the plan.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  virtual void OnStep(int step, int64_t nanoseconds) = 0;
};

// `feeds` are as Plan::feeds says (checked by the caller) and aligned to their element size. The
// outputs are in the order of Graph::outputs(), each in memory of its own. Errors name the node.
absl::StatusOr<std::vector<Tensor>> RunPlan(const Plan& plan, absl::Span<const Tensor> feeds,
                                            StepObserver* observer = nullptr);

// As above, for calls inside a run: outputs may share memory with the feeds, with constants and
// with variables.
absl::StatusOr<std::vector<Tensor>> RunPlanShared(const Plan& plan, absl::Span<const Tensor> feeds);

}  // namespace tenon

#endif  // TENON_RUNTIME_EXECUTION_EXECUTOR_H_
