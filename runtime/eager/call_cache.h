// The cache of eager calls. A CallSite stands for an op with given dtypes and attributes: row,
// completed attributes and rename are determined once. It holds kernels prepared for given input
// shapes, and for the values of those inputs that the shape function or Prepare read. A repeated
// call costs two lookups and builds nothing.
#ifndef TENON_RUNTIME_EAGER_CALL_CACHE_H_
#define TENON_RUNTIME_EAGER_CALL_CACHE_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "env/mutex.h"
#include "ops/evaluate.h"
#include "runtime/plan/kernel_cache.h"

namespace tenon {

using DTypes = absl::InlinedVector<DType, 8>;

struct EagerKernel {
  PreparedKernel prepared;
  // Threads that it may use: 1 if there is too little work for more.
  int threads = 1;
  // The kernel depends only on the inputs' shapes, and may be kept.
  bool by_shapes = false;
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
  const OpInfo& op() const { return *op_; }
  const Node& node() const { return node_; }
  const std::vector<DType>& output_dtypes() const { return output_dtypes_; }

 private:
  friend class CallCache;
  struct Variant {
    std::vector<std::pair<int, Tensor>> values;        // inputs whose values the kernel depends on
    std::vector<std::shared_ptr<Constant>> constants;  // by input; empty if there are none
    std::shared_ptr<const EagerKernel> kernel;
  };
  using Shapes = absl::InlinedVector<Shape, 2>;
  struct Entry {
    Shapes shapes;
    int threads = 0;  // of the services
    std::vector<Variant> variants;
  };

  std::string name_;  // as called
  DTypes dtypes_;
  AttrMap attrs_;
  const OpInfo* op_ = nullptr;
  Node node_;  // renamed, attributes completed
  std::vector<DType> output_dtypes_;
  SmallCalls small_;
  mutable Mutex mutex_;
  // The cache's generation when the entries were made: older entries are dropped.
  mutable int64_t generation_ ABSL_GUARDED_BY(mutex_) = 0;
  // By hash of input shapes and threads; a rare collision only replaces an entry.
  mutable absl::flat_hash_map<size_t, Entry> entries_ ABSL_GUARDED_BY(mutex_);
};

class CallCache {
 public:
  // `flags` give the limits: a new kernel that would exceed cache_entries or cache_bytes first
  // drops everything. The objects that `services` points to must outlive the cache.
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

  // Increases when everything is dropped; callers should then drop what they keep, too.
  int64_t generation() const { return generation_.load(std::memory_order_relaxed); }

  KernelCacheStats stats() const;

 private:
  struct Shard {
    Mutex mutex;
    absl::flat_hash_map<size_t, std::shared_ptr<const CallSite>> sites ABSL_GUARDED_BY(mutex);
  };

  absl::StatusOr<std::shared_ptr<const CallSite>> MakeSite(absl::string_view op,
                                                           absl::Span<const DType> dtypes,
                                                           const AttrMap& attrs) const;
  absl::Status CompleteSite(const OpInfo& op, CallSite& site) const;
  absl::StatusOr<CallSite::Variant> Prepare(const CallSite& site, absl::Span<const Tensor> inputs,
                                            absl::Span<const std::shared_ptr<Constant>> constants,
                                            int threads) const;
  // Counts an entry before it is kept; false if nothing is kept.
  bool MakeRoom(int64_t bytes);
  void Clear();

  const int64_t max_entries_;
  const int64_t max_bytes_;
  const bool rename_;
  const int threads_;
  const std::vector<Services> services_;  // for 1 thread, for 2, and so on
  std::array<Shard, 8> shards_;
  std::atomic<int64_t> generation_ = 0;
  std::atomic<int64_t> entries_ = 0;
  std::atomic<int64_t> bytes_ = 0;
  std::atomic<int64_t> hits_ = 0;
  std::atomic<int64_t> misses_ = 0;
};

}  // namespace tenon

#endif  // TENON_RUNTIME_EAGER_CALL_CACHE_H_
