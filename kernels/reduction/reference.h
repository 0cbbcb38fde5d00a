// Reference kernels of reductions over a set of axes.
#ifndef TENON_KERNELS_REDUCTION_REFERENCE_H_
#define TENON_KERNELS_REDUCTION_REFERENCE_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/interface/types.h"

namespace tenon {

// A mask of the axes of `input` that reduction indices (a scalar or a vector) name.
absl::StatusOr<std::vector<bool>> ReducedAxes(const Shape& input, const Tensor& axes);

// The loops of one reduction, with adjacent axes of the same kind merged.
struct ReductionSpace {
  struct Dim {
    int64_t size = 1;
    int64_t in = 0;   // stride in the input
    int64_t out = 0;  // stride in the output; 0: reduced
  };
  std::vector<Dim> outer;  // outermost first
  int64_t inner = 1;       // contiguous in the input
  bool inner_reduced = false;
  int64_t in_elements = 0;
  int64_t out_elements = 0;
  int64_t count = 1;  // input elements per output element

  static absl::StatusOr<ReductionSpace> Make(const Shape& input, const Tensor& axes);
};

// kNorm: the square root of the sum of squares. Sums and means of floats are computed in double, of
// integers in their own range (sums) or in 64 bits (means); half and bfloat16 are rounded once.
enum class ReferenceReduction { kSum, kMean, kProduct, kMax, kMin, kNorm, kAll, kAny };

// Reduces input 0 over the axes in input 1; kAll and kAny of bools, kMax and kMin of real numbers,
// the others of all numbers.
absl::StatusOr<std::unique_ptr<Kernel>> ReduceReference(PrepareContext& p,
                                                        ReferenceReduction reduction);

// ReduceReference as a kernel factory; axes that are not known in Prepare are read at Run.
template <ReferenceReduction kReduction>
absl::StatusOr<std::unique_ptr<Kernel>> ReduceReference(PrepareContext& p) {
  if (p.value(1) == nullptr) return PrepareLate(p, ReduceReference<kReduction>, {1});
  return ReduceReference(p, kReduction);
}

// Sums input 0 over `space`, for all numeric dtypes.
absl::StatusOr<std::unique_ptr<Kernel>> SumOver(PrepareContext& p, const ReductionSpace& space);

}  // namespace tenon

#endif  // TENON_KERNELS_REDUCTION_REFERENCE_H_
