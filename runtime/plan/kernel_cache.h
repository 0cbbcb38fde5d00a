// Prepared kernels, shared by all plans and eager calls of a session. Two requests get the same
// kernel when op, attributes, dtypes, shapes and constants agree, and so do the values of those
// inputs that Prepare looked at.
#ifndef TENON_RUNTIME_PLAN_KERNEL_CACHE_H_
#define TENON_RUNTIME_PLAN_KERNEL_CACHE_H_

#include <cstdint>
#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/node_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "env/mutex.h"
#include "ops/evaluate.h"

namespace tenon {

struct KernelCacheStats {
  int64_t hits = 0;
  int64_t misses = 0;
  int64_t entries = 0;
  int64_t bytes = 0;
};

class KernelCache {
 public:
  // At most `max_entries` kernels and `max_bytes` held by them, least recently used leave first;
  // 0 entries: nothing is kept. A plan holds its kernels, so leaving only ends the sharing.
  KernelCache(int64_t max_entries, int64_t max_bytes)
      : max_entries_(max_entries), max_bytes_(max_bytes) {}
  KernelCache(const KernelCache&) = delete;
  KernelCache& operator=(const KernelCache&) = delete;

  // As PrepareNode (ops/evaluate.h). `outputs` is what InferOutputs gave for these inputs. Failures
  // are not kept. Prepare runs outside the lock; of two threads that prepare the same kernel at
  // once, both get the one that was ready first.
  absl::StatusOr<std::shared_ptr<const PreparedKernel>> Prepare(
      const Node& node, absl::Span<const TensorSpec> inputs, absl::Span<Constant* const> constants,
      absl::Span<const TensorSpec> outputs, const Services& services) ABSL_LOCKS_EXCLUDED(mutex_);

  KernelCacheStats stats() const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  struct Key {
    std::string op;
    AttrMap attrs;
    std::vector<std::pair<DType, Shape>> specs;  // inputs, then outputs
    std::vector<const Constant*> constants;
    size_t hash = 0;
    friend bool operator==(const Key& a, const Key& b) {
      return a.hash == b.hash && a.op == b.op && a.specs == b.specs && a.constants == b.constants &&
             a.attrs == b.attrs;
    }
    template <typename H>
    friend H AbslHashValue(H h, const Key& k) {
      return H::combine(std::move(h), k.hash);
    }
  };
  struct Variant {
    std::vector<std::pair<int, Tensor>> values;  // inputs that Prepare looked at
    std::shared_ptr<const PreparedKernel> kernel;
  };
  struct Entry {
    std::vector<Variant> variants;
    int64_t bytes = 0;
    std::list<const Key*>::iterator age;
  };

  static Key MakeKey(const Node& node, absl::Span<const TensorSpec> inputs,
                     absl::Span<Constant* const> constants, absl::Span<const TensorSpec> outputs);
  static const Variant* Match(const Entry& entry, absl::Span<const TensorSpec> inputs);
  void Trim() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int64_t max_entries_;
  const int64_t max_bytes_;
  mutable Mutex mutex_;
  absl::node_hash_map<Key, std::unique_ptr<Entry>> entries_ ABSL_GUARDED_BY(mutex_);
  std::list<const Key*> ages_ ABSL_GUARDED_BY(mutex_);  // most recent first
  int64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  KernelCacheStats stats_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon

#endif  // TENON_RUNTIME_PLAN_KERNEL_CACHE_H_
