// What eager keeps between calls. An op with the dtypes of its inputs and its attributes, as the
// caller writes them, is a CallSite: row, completed attributes and rename are settled once. Under
// it stand prepared kernels by input shapes, and by the values of those inputs that the shape
// function or Prepare looked at. A repeated call costs two lookups and builds nothing.
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
  // What it may use: 1 where there is too little work to be shared out.
  int threads = 1;
  // Of the inputs only their shapes decided which kernel, and it may be kept.
  bool by_shapes = false;
};

// Calls whose work is done, by one thread, before another would have woken up.
struct SmallCalls {
  size_t bytes = size_t{32} << 10;  // read and written
  // Of contractions, which compute more than they touch.
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
    std::vector<std::pair<int, Tensor>> values;        // inputs that decided
    std::vector<std::shared_ptr<Constant>> constants;  // by input, or empty: none
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
  // Of the cache, when the entries were made: older ones are dropped.
  mutable int64_t generation_ ABSL_GUARDED_BY(mutex_) = 0;
  // By hash of input shapes and threads; a rare clash only replaces.
  mutable absl::flat_hash_map<size_t, Entry> entries_ ABSL_GUARDED_BY(mutex_);
};

class CallCache {
 public:
  // `flags` bound what is kept: where a new kernel would go beyond cache_entries or cache_bytes,
  // everything is dropped. What `services` points to outlives the cache.
  CallCache(const Flags& flags, const Services& services);
  CallCache(const CallCache&) = delete;
  CallCache& operator=(const CallCache&) = delete;

  // NotFound for ops that do not exist or are private; InvalidArgument where attributes are
  // missing or wrong. Thread-safe, as is Kernel.
  absl::StatusOr<std::shared_ptr<const CallSite>> Site(absl::string_view op,
                                                       absl::Span<const DType> dtypes,
                                                       const AttrMap& attrs);
  // The site of a graph's node, for its owner to keep; private ops too. Renamed like a call.
  absl::StatusOr<std::shared_ptr<const CallSite>> NodeSite(const Node& node,
                                                           const SmallCalls& small) const;

  // `constants` has one entry per input, null where the input may change, or none at all. A kernel
  // made from them is kept until a call comes with others. `threads` (0: those of the services):
  // what it may use, at most all CPUs. What Prepare computes is in the thread budget; the caller
  // must not be.
  absl::StatusOr<std::shared_ptr<const EagerKernel>> Kernel(
      const CallSite& site, absl::Span<const Tensor> inputs,
      absl::Span<const std::shared_ptr<Constant>> constants = {}, int threads = 0);

  // Grows when everything is dropped: what a caller keeps from before should go too.
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
  // Counts what is about to be kept; false where nothing is.
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
