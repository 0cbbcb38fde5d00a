// Splits batches, if all ops treat rows independently: running the plan of a part repeatedly gives
// the same results. Large ones run a few rows at a time: at batch 16, a network passes through main
// memory tensors that stay in the CPU's caches at batch 1. Of small networks, each thread runs rows
// of its own: steps of some microseconds take longer on several threads, which meet after each.
#ifndef TENON_RUNTIME_PLAN_BATCH_SPLIT_H_
#define TENON_RUNTIME_PLAN_BATCH_SPLIT_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/execution/kernel_cache.h"
#include "runtime/plan/model_state.h"
#include "runtime/plan/split_plan.h"

namespace tenon {

// A plan in parts for these feeds, or null where one plan for all rows is right: the
// tensors fit the caches and the network is not small, weights would be read more often than it is
// worth, or some op looks at several rows. `free_rows[i]` says that feed i may have any number of
// rows. An error where the part's plan cannot be built; that for all rows may work all the same.
absl::StatusOr<std::shared_ptr<const SplitPlan>> BuildSplitPlan(
    const std::shared_ptr<const ModelState>& model, absl::Span<const TensorSpec> feeds,
    const std::vector<bool>& free_rows, const Services& services, KernelCache& cache);

// OK if every op is known to treat the rows of the feeds with free rows independently, so that one
// run on the rows of several gives each its results. Otherwise FailedPrecondition, which names the
// node about which this is not known. The feeds' other dimensions count, their rows do not.
absl::Status CheckRowsApart(const std::shared_ptr<const ModelState>& model,
                            absl::Span<const TensorSpec> feeds, const std::vector<bool>& free_rows,
                            const Services& services);

}  // namespace tenon

#endif  // TENON_RUNTIME_PLAN_BATCH_SPLIT_H_
