// The plans of a session, one per set of input dtypes and shapes, values of the boolean inputs that
// decide branches, and number of threads: a BoundedCache (env/bounded_cache.h).
#ifndef TENON_RUNTIME_PLAN_PLAN_CACHE_H_
#define TENON_RUNTIME_PLAN_PLAN_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "env/bounded_cache.h"
#include "env/containers.h"
#include "graph/tensor.h"
#include "runtime/execution/plan.h"

namespace tenon {

// `P` is Plan or FlatPlan.
template <typename P>
class PlanCache {
 public:
  using Build = absl::FunctionRef<absl::StatusOr<std::shared_ptr<const P>>()>;

  // One plan is kept, however large. `max_bytes` counts what bytes() does and the kernels that the
  // plans hold.
  PlanCache(int64_t max_entries, int64_t max_bytes)
      : cache_(CacheLimits{.entries = max_entries, .bytes = max_bytes, .keep_one = true}) {}

  // Feeds at these positions have plans of their own by value (KnownBool). Before the first Get.
  void DistinguishValues(std::vector<size_t> feeds) { by_value_ = std::move(feeds); }

  // The plan for these feeds (an invalid tensor: not fed) that runs on `threads`.
  absl::StatusOr<std::shared_ptr<const P>> Get(absl::Span<const Tensor> feeds, int threads,
                                               Build build);

  // The same if there is one already, or else null.
  std::shared_ptr<const P> GetIfReady(absl::Span<const Tensor> feeds, int threads);

  // The plan for all feeds with these dtypes and (partial) shapes.
  absl::StatusOr<std::shared_ptr<const P>> GetGeneral(absl::Span<const TensorSpec> feeds,
                                                      int threads, Build build);

  CacheStats stats() const { return cache_.stats(); }
  // The bytes that only the kept plans hold, without weights, kernels and arenas.
  int64_t bytes() const;

 private:
  struct Key {
    std::vector<TensorSpec> feeds;
    int threads = 1;
  };
  struct Query;
  struct GeneralQuery;
  // Kernels that several plans share count once.
  class Weigher {
   public:
    int64_t Add(const Plan& plan);
    int64_t Remove(const Plan& plan, int64_t added);

   private:
    struct Count {
      int uses = 0;
      int64_t bytes = 0;
    };
    HashMap<const Plan*, int64_t> plans_;
    HashMap<const PreparedKernel*, Count> kernels_;
  };

  std::vector<size_t> by_value_;
  BoundedCache<Key, P, Weigher> cache_;
};

}  // namespace tenon

#endif  // TENON_RUNTIME_PLAN_PLAN_CACHE_H_
