// Kernels of straight-line programs of elementwise ops (program.h), which attribute `program`
// holds. Inputs are broadcast together as in NumPy. InvalidArgument on a program that does not
// parse.
#ifndef TENON_KERNELS_ELEMENTWISE_FUSED_H_
#define TENON_KERNELS_ELEMENTWISE_FUSED_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// One element at a time; every result is rounded to the inputs' dtype, as the single ops would.
// Floating dtypes.
absl::StatusOr<std::unique_ptr<Kernel>> FusedElementwiseReference(PrepareContext& p);
// float and bfloat16.
absl::StatusOr<std::unique_ptr<Kernel>> FusedElementwiseVector(PrepareContext& p);

// Of float inputs, to qint8 or quint8: the result x becomes round(x / step + zero), saturated, by
// attributes step, zero and half_to_even. InvalidArgument on a step or zero out of range.
absl::StatusOr<std::unique_ptr<Kernel>> FusedElementwiseToIntegersReference(PrepareContext& p);
absl::StatusOr<std::unique_ptr<Kernel>> FusedElementwiseToIntegersVector(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_ELEMENTWISE_FUSED_H_
