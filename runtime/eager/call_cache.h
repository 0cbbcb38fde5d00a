// The cache of eager calls, of BoundedCaches (env/bounded_cache.h). A CallSite stands for an op
// with given dtypes and attributes: row, completed attributes and rename are determined once. It
// holds kernels prepared for given input shapes, and for the values of those inputs that the shape
// function or Prepare read. A repeated call costs two lookups and builds nothing.
#ifndef TENON_RUNTIME_EAGER_CALL_CACHE_H_
#define TENON_RUNTIME_EAGER_CALL_CACHE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "env/bounded_cache.h"
#include "kernels/state/shared_state.h"
#include "ops/evaluate.h"

namespace tenon {

using DTypes = absl::InlinedVector<DType, 8>;

struct EagerKernel {
  PreparedKernel prepared;
  // Threads that it may use: 1 if there is too little work for more.
  int threads = 1;
  // The kernel depends only on the inputs' shapes, and may be kept.
  bool by_shapes = false;
  std::vector<std::pair<int, Tensor>> values;        // inputs that decided
  std::vector<std::shared_ptr<Constant>> constants;  // by input, or empty: none

  size_t bytes() const { return prepared.kernel->HeldBytes(); }
};

// Limits for small calls, which one thread finishes before another would have woken up.
struct SmallCalls {
  size_t bytes = size_t{32} << 10;  // read and written
  // For contractions, which compute more than they read or write.
  double flops = 4e5;
  size_t contraction_bytes = size_t{32} << 10;
};

class CallSite {
 public:
  // Its kernels are within `budget`.
  explicit CallSite(std::shared_ptr<CacheBudget> budget) : kernels_(std::move(budget)) {}

  const OpInfo& op() const { return *op_; }
  const Node& node() const { return node_; }
  const std::vector<DType>& output_dtypes() const { return output_dtypes_; }

  size_t bytes() const { return 0; }  // its kernels count themselves

 private:
  friend class CallCache;
  struct KernelKey {
    absl::InlinedVector<Shape, 2> shapes;
    int threads = 0;  // of the services
  };
  struct KernelQuery;

  const OpInfo* op_ = nullptr;
  Node node_;  // renamed, attributes completed
  std::vector<DType> output_dtypes_;
  SmallCalls small_;
  mutable BoundedCache<KernelKey, EagerKernel> kernels_;
};

class CallCache {
 public:
  // `flags` give the limits: cache_entries call sites, and as many kernels of all sites together,
  // including those of NodeSite. The objects that `services` points to must outlive the cache.
  CallCache(const Flags& flags, const Services& services);
  CallCache(const CallCache&) = delete;
  CallCache& operator=(const CallCache&) = delete;

  // NotFound for ops that do not exist or are private; InvalidArgument if attributes are missing or
  // wrong. Thread-safe, as is Kernel.
  absl::StatusOr<std::shared_ptr<const CallSite>> Site(absl::string_view op,
                                                       absl::Span<const DType> dtypes,
                                                       const AttrMap& attrs);
  // The site of a graph's node, which its owner keeps; also for private ops. Renamed like a call.
  absl::StatusOr<std::shared_ptr<const CallSite>> NodeSite(const Node& node,
                                                           const SmallCalls& small) const;

  // `constants` has one entry per input (null if the input may change), or is empty. A kernel made
  // from constants is kept until a call has different ones. `threads` is how many threads it may
  // use, at most all CPUs (0: the number in the services). Prepare's computations are within the
  // thread budget, so the caller must not hold any of it.
  absl::StatusOr<std::shared_ptr<const EagerKernel>> Kernel(
      const CallSite& site, absl::Span<const Tensor> inputs,
      absl::Span<const std::shared_ptr<Constant>> constants = {}, int threads = 0);

  // Increases when kernels are evicted; callers should then drop what they keep, and ask again.
  int64_t generation() const { return kernels_->evictions(); }

  CacheStats stats() const { return kernels_->stats(); }

 private:
  struct SiteKey {
    std::string op;  // as called
    DTypes dtypes;
    AttrMap attrs;
  };
  struct SiteQuery;
  using Sites = BoundedCache<SiteKey, CallSite>;
  static constexpr size_t kShards = 8;

  // `hash` is that of a SiteQuery.
  absl::StatusOr<std::shared_ptr<const CallSite>> MakeSite(size_t hash, absl::string_view op,
                                                           absl::Span<const DType> dtypes,
                                                           const AttrMap& attrs);
  absl::Status CompleteSite(const OpInfo& op, CallSite& site) const;
  absl::StatusOr<std::shared_ptr<const EagerKernel>> Prepare(
      const CallSite& site, absl::Span<const Tensor> inputs,
      absl::Span<const std::shared_ptr<Constant>> constants, int threads) const;

  const bool rename_;
  const int threads_;
  const std::vector<Services> services_;        // for 1 thread, for 2, and so on
  const std::shared_ptr<CacheBudget> kernels_;  // of all sites
  std::array<Sites, kShards> sites_;            // by hash: a lock each
  // RandomSequences of calls. They have limits of their own: a call whose site is not kept
  // continues its numbers nevertheless.
  static constexpr int64_t kSequences = 16384;
  BoundedCache<SiteKey, Tensor> sequences_;
  // What calls refer to by name; those without shared_name, by the op's.
  const std::unique_ptr<SharedStates> shared_ = std::make_unique<SharedStates>();
};

}  // namespace tenon

#endif  // TENON_RUNTIME_EAGER_CALL_CACHE_H_
