// Sparse tensors that a session keeps under int64 handles until they are taken.
#ifndef TENON_KERNELS_SPARSE_TENSORS_MAP_H_
#define TENON_KERNELS_SPARSE_TENSORS_MAP_H_

#include <memory>

#include "absl/status/statusor.h"
#include "env/containers.h"
#include "env/mutex.h"
#include "graph/object.h"
#include "kernels/interface/kernel.h"
#include "kernels/sparse/sparse_parts.h"

namespace tenon {

class SparseTensorsMap final : public Object {
 public:
  // The tensor's handle: 0, 1, 2 ...
  int64_t Add(SparseParts parts);
  // Removes the tensor. InvalidArgument if there is none.
  absl::StatusOr<SparseParts> Take(int64_t handle);

 private:
  Mutex mutex_;
  int64_t next_ ABSL_GUARDED_BY(mutex_) = 0;
  HashMap<int64_t, SparseParts> parts_ ABSL_GUARDED_BY(mutex_);
};

// Adds the tensor in inputs 0 to 2. Only its form is checked.
absl::StatusOr<std::unique_ptr<Kernel>> AddSparseToMapKernel(PrepareContext& p);
// Adds its N slices along dimension 0: [N] handles. InvalidArgument for indices that are out of
// bounds, repeated or not in row-major order.
absl::StatusOr<std::unique_ptr<Kernel>> AddManySparseToMapKernel(PrepareContext& p);
// Takes the tensors with the handles in input 0, [N], and stacks them along a new dimension 0.
absl::StatusOr<std::unique_ptr<Kernel>> TakeManySparseFromMapKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_SPARSE_TENSORS_MAP_H_
