// Kernels that put the elements of each row in order: NthElement, IsotonicRegression.
#ifndef TENON_KERNELS_REDUCTION_ORDER_H_
#define TENON_KERNELS_REDUCTION_ORDER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Inputs: values; n, as a value. Attribute reverse. The n-th smallest (or largest) element of each
// row; NaN counts as larger than every number.
absl::StatusOr<std::unique_ptr<Kernel>> NthElementKernel(PrepareContext& p);

// The falling sequence that is nearest to each row, in squares, and the number of each element's
// run of equal results.
absl::StatusOr<std::unique_ptr<Kernel>> IsotonicKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_REDUCTION_ORDER_H_
