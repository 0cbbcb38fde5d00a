// The interface of a function that control flow calls (runtime/plan/body.h implements it).
#ifndef TENON_RUNTIME_EXECUTION_FUNCTION_H_
#define TENON_RUNTIME_EXECUTION_FUNCTION_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/tensor.h"
#include "runtime/execution/flat_plan.h"

namespace tenon {

class Function {
 public:
  virtual ~Function() = default;
  // The plan for such arguments, built if there is none yet. `general` is empty, or says for each
  // argument what all calls' shapes have in common: if many plans were built, the one for these
  // shapes serves the rest.
  virtual absl::StatusOr<std::shared_ptr<const FlatPlan>> PlanFor(
      absl::Span<const Tensor> arguments, absl::Span<const Shape> general, const Services& services,
      KernelCache& cache) = 0;
};

}  // namespace tenon

#endif  // TENON_RUNTIME_EXECUTION_FUNCTION_H_
