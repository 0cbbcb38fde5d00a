// The plans of a session, one per set of input dtypes and shapes: built once, most recent first,
// bounded.
#ifndef TENON_RUNTIME_PLAN_PLAN_CACHE_H_
#define TENON_RUNTIME_PLAN_PLAN_CACHE_H_

#include <cstdint>
#include <functional>
#include <list>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "env/mutex.h"
#include "graph/tensor.h"
#include "runtime/plan/plan.h"

namespace tenon {

class PlanCache {
 public:
  struct Stats {
    int64_t hits = 0;
    int64_t misses = 0;
    int64_t entries = 0;
  };
  using Build = std::function<absl::StatusOr<std::shared_ptr<const Plan>>()>;

  // At least one plan is kept, however large. `max_bytes` (0: no limit) counts what bytes() does
  // and the kernels that the plans hold.
  PlanCache(int64_t max_entries, int64_t max_bytes)
      : max_entries_(max_entries < 1 ? 1 : max_entries), max_bytes_(max_bytes) {}

  // The plan for these feeds (an invalid tensor: not fed). `build` runs outside the lock, once:
  // threads that ask for the same plan meanwhile wait for it. Failures are told to all who waited,
  // and forgotten.
  absl::StatusOr<std::shared_ptr<const Plan>> Get(absl::Span<const Tensor> feeds,
                                                  const Build& build) ABSL_LOCKS_EXCLUDED(mutex_);

  Stats stats() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Held by the plans that are kept alone: no weights, kernels or arenas.
  int64_t bytes() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Entry {
    std::vector<TensorSpec> key;
    bool ready = false;
    absl::Status status;
    std::shared_ptr<const Plan> plan;
  };
  using Entries = std::list<std::shared_ptr<Entry>>;

  Entries::iterator Find(absl::Span<const Tensor> feeds) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  void Trim() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int64_t max_entries_;
  const int64_t max_bytes_;
  mutable Mutex mutex_;
  Entries entries_ ABSL_GUARDED_BY(mutex_);  // most recent first: the usual one is found at once
  Stats stats_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon

#endif  // TENON_RUNTIME_PLAN_PLAN_CACHE_H_
