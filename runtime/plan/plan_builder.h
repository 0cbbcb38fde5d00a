// Compiles a graph into a FlatPlan (runtime/execution/flat_plan.h).
#ifndef TENON_RUNTIME_PLAN_PLAN_BUILDER_H_
#define TENON_RUNTIME_PLAN_PLAN_BUILDER_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/execution/flat_plan.h"
#include "runtime/plan/model_state.h"

namespace tenon {

// Compiles `model` for inputs with these dtypes and complete shapes, in the order of
// Graph::inputs(). An input of dtype kInvalid is not fed (an error if a node needs it and it has no
// default); an input with a value has it in every run, and for a list's handle the value gives the
// shape of its tensors. Values must outlive the plan. Weights that no step of
// this plan reads plain lose their plain copy. Errors name the node.
absl::StatusOr<std::shared_ptr<const FlatPlan>> BuildPlan(std::shared_ptr<const ModelState> model,
                                                          absl::Span<const TensorSpec> feeds,
                                                          const Services& services,
                                                          KernelCache& cache);

// Compiles a function for calls with such arguments: shapes may be partial. The value of an
// argument is what it has in every call (of a list, it gives the shape of the tensors). `constants`
// is empty, or has the weight that an argument is in every call, or null, for each argument.
// `invariant`: by argument, whether it is the same in all iterations of a loop; empty: it is no
// loop's. The plan's runs may take arguments that their caller owns.
absl::StatusOr<std::shared_ptr<const FlatPlan>> BuildFunctionPlan(
    std::shared_ptr<const ModelState> model, absl::Span<const TensorSpec> arguments,
    absl::Span<Constant* const> constants, const std::vector<bool>& invariant,
    const Services& services, KernelCache& cache);

// The plan for such feeds in outline, without preparing kernels.
struct PlanDryRun {
  std::vector<std::vector<TensorSpec>> outputs;  // by node; values where they are known
  size_t arena_bytes = 0;                        // approximate
  size_t written_bytes = 0;                      // by all steps
  size_t weight_bytes = 0;                       // read by steps
  bool dynamic = false;                          // some step's shapes depend on data
  std::vector<PlanOutput> results;               // what is known of the graph's outputs
  std::vector<ItemState> feed_items;             // FlatPlan::feed_items

  std::vector<std::shared_ptr<const Tensor>> values;  // what the specs point to
};
absl::StatusOr<PlanDryRun> DryRunPlan(std::shared_ptr<const ModelState> model,
                                      absl::Span<const TensorSpec> feeds, const Services& services);

}  // namespace tenon

#endif  // TENON_RUNTIME_PLAN_PLAN_BUILDER_H_
