// A sparse tensor as the three tensors of which it consists, and what ops that take it apart or
// stack it have in common.
#ifndef TENON_KERNELS_SPARSE_SPARSE_PARTS_H_
#define TENON_KERNELS_SPARSE_SPARSE_PARTS_H_

#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "graph/tensor.h"
#include "kernels/interface/kernel.h"
#include "kernels/sparse/coordinates.h"

namespace tenon {

struct SparseParts {
  std::shared_ptr<const Tensor> indices, values, shape;  // [n, rank], [n], [rank]
};

// InvalidArgument unless the parts have such shapes and dtypes; values of `dtype`.
absl::Status CheckParts(const SparseParts& parts, DType dtype);

// InvalidArgument for coordinates that are repeated or not in row-major order.
absl::Status CheckOrder(const Coordinates& at);

// A slice along dimension 0, without that dimension.
struct SparseSlice {
  int64_t index;
  Shape indices_shape;  // [n, rank - 1]
  const int64_t* indices;
  const void* values;  // n
};
// Calls `visit` for each slice in turn; empty ones too.
absl::Status VisitSlices(const Coordinates& at, const void* values, DType dtype, int64_t slices,
                         absl::FunctionRef<absl::Status(const SparseSlice&)> visit);

// Writes `parts`, stacked along the dimensions of `outer`, to outputs 0 to 2 (indices, values,
// shape): in each other dimension it is as large as the largest part. InvalidArgument for parts of
// different ranks.
absl::Status WriteStacked(RunContext& run, const std::vector<SparseParts>& parts,
                          const Shape& outer, DType dtype);

}  // namespace tenon

#endif  // TENON_KERNELS_SPARSE_SPARSE_PARTS_H_
