// Vector kernels of reductions: float, half, and the mean of bfloat16; Unimplemented for other
// dtypes and for axes that are not adjacent.
#ifndef TENON_KERNELS_REDUCTION_REDUCE_H_
#define TENON_KERNELS_REDUCTION_REDUCE_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

enum class VectorReduction { kSum, kMean, kMax, kMin };

// Over the axes in input 1, which must be known.
absl::StatusOr<std::unique_ptr<Kernel>> VectorReduce(PrepareContext& p, VectorReduction reduction);
// Over every axis of input 0 except `kept`.
absl::StatusOr<std::unique_ptr<Kernel>> VectorReduceAllBut(PrepareContext& p,
                                                           VectorReduction reduction, int kept);

// The same without a node: the sum over these axes of a tensor of shape `in`.
struct SumWithScratch {
  std::unique_ptr<Kernel> sum;
  size_t scratch_bytes = 0;
};
absl::StatusOr<SumWithScratch> VectorSumOf(const Shape& in, const std::vector<bool>& axes,
                                           DType dtype, int threads);

// VectorReduce as a kernel factory.
template <VectorReduction kReduction>
absl::StatusOr<std::unique_ptr<Kernel>> VectorReduce(PrepareContext& p) {
  return VectorReduce(p, kReduction);
}

}  // namespace tenon

#endif  // TENON_KERNELS_REDUCTION_REDUCE_H_
