// Kernels of straight-line programs of elementwise ops (program.h), given by the attribute
// `program`. Inputs are broadcast together as in NumPy. InvalidArgument if a program does not
// parse.
#ifndef TENON_KERNELS_ELEMENTWISE_FUSED_H_
#define TENON_KERNELS_ELEMENTWISE_FUSED_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// One element at a time; every result is rounded to the inputs' dtype, as by separate ops.
// Floating-point dtypes.
absl::StatusOr<std::unique_ptr<Kernel>> FusedElementwiseReference(PrepareContext& p);
// float and bfloat16.
absl::StatusOr<std::unique_ptr<Kernel>> FusedElementwiseVector(PrepareContext& p);

// For float inputs, to qint8 or quint8: the result x becomes round(x / step + zero), saturated,
// with the attributes step (the scale), zero and half_to_even. InvalidArgument for a step or zero
// out of range.
absl::StatusOr<std::unique_ptr<Kernel>> FusedElementwiseToIntegersReference(PrepareContext& p);
absl::StatusOr<std::unique_ptr<Kernel>> FusedElementwiseToIntegersVector(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_ELEMENTWISE_FUSED_H_
