// Replaces rows and slices of a variable by updates, or combines them, in order.
#ifndef TENON_KERNELS_STATE_SCATTER_H_
#define TENON_KERNELS_STATE_SCATTER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"
#include "kernels/layout/scatter.h"

namespace tenon {

// Input 0 is the variable's handle, input 1 (int32 or int64) lists its rows, input 2 has the
// updates: a scalar, or shape indices.shape + variable.shape[1:]. All dtypes of FindScatter, but
// bools and strings can only be replaced. At run time, InvalidArgument if a shape does not match,
// an index is out of range, or an integer would be divided by 0: the variable is then unchanged.
absl::StatusOr<std::unique_ptr<Kernel>> VariableScatterKernel(PrepareContext& p,
                                                              ScatterFunction function);
template <ScatterFunction function>
absl::StatusOr<std::unique_ptr<Kernel>> VariableScatterKernel(PrepareContext& p) {
  return VariableScatterKernel(p, function);
}

// Like TensorScatterKernel, on the variable whose handle is input 0. At run time, InvalidArgument
// if a shape does not match or an index is out of range (unless bad_indices_policy is IGNORE): the
// variable is then unchanged.
absl::StatusOr<std::unique_ptr<Kernel>> VariableScatterNdKernel(PrepareContext& p,
                                                                ScatterFunction function);
template <ScatterFunction function>
absl::StatusOr<std::unique_ptr<Kernel>> VariableScatterNdKernel(PrepareContext& p) {
  return VariableScatterNdKernel(p, function);
}

}  // namespace tenon

#endif  // TENON_KERNELS_STATE_SCATTER_H_
