// Reductions of sparse tensors (indices [n, rank], values [n], shape [rank]).
#ifndef TENON_KERNELS_SPARSE_REDUCE_H_
#define TENON_KERNELS_SPARSE_REDUCE_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// A mask of the dimensions that a list of axes names. InvalidArgument if one is out of range.
absl::StatusOr<std::vector<bool>> ReducedSparseAxes(const Tensor& axes, int rank);

// Softmax over the elements of each innermost row: float, double or half (computed in float).
// InvalidArgument for indices out of bounds.
absl::StatusOr<std::unique_ptr<Kernel>> SparseSoftmaxKernel(PrepareContext& p);

enum class SparseReduction { kSum, kMax };

// A dense tensor: the elements of inputs 0 to 2 reduced over the axes in input 3 (int32), 0 where
// there are none. Sums of numbers (half and bfloat16 in float), maxima of real numbers.
// InvalidArgument for indices or axes out of bounds.
template <SparseReduction reduction>
absl::StatusOr<std::unique_ptr<Kernel>> SparseReduceKernel(PrepareContext& p);

// The same as a sparse tensor: indices, values and shape. Only results with elements are present.
template <SparseReduction reduction>
absl::StatusOr<std::unique_ptr<Kernel>> SparseReduceToSparseKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_SPARSE_REDUCE_H_
