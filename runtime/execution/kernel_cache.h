// Prepared kernels, shared by all plans of a session: a BoundedCache (env/bounded_cache.h). Two
// requests get the same kernel when op, attributes, dtypes, shapes, constants and threads agree,
// and so do the values of those inputs that Prepare looked at.
#ifndef TENON_RUNTIME_EXECUTION_KERNEL_CACHE_H_
#define TENON_RUNTIME_EXECUTION_KERNEL_CACHE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "env/bounded_cache.h"
#include "ops/evaluate.h"

namespace tenon {

class KernelCache {
 public:
  // A plan holds its kernels, so leaving the cache only ends the sharing.
  explicit KernelCache(const CacheLimits& limits) : cache_(limits) {}

  // As PrepareNode (ops/evaluate.h). `outputs` is what InferOutputs gave for these inputs.
  absl::StatusOr<std::shared_ptr<const PreparedKernel>> Prepare(
      const Node& node, absl::Span<const TensorSpec> inputs, absl::Span<Constant* const> constants,
      absl::Span<const TensorSpec> outputs, const Services& services);

  CacheStats stats() const { return cache_.stats(); }

 private:
  struct Key {
    std::string op;
    AttrMap attrs;
    std::vector<std::pair<DType, Shape>> specs;  // inputs, then outputs
    std::vector<const Constant*> constants;
    int threads = 1;
  };
  struct SharedKernel {
    PreparedKernel kernel;
    std::vector<std::pair<int, Tensor>> values;  // inputs that Prepare read
    size_t bytes() const { return kernel.kernel->HeldBytes(); }
  };
  struct Query;

  BoundedCache<Key, SharedKernel> cache_;
};

}  // namespace tenon

#endif  // TENON_RUNTIME_EXECUTION_KERNEL_CACHE_H_
