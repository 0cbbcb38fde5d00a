// Rows and slices of a variable replaced by updates, or combined with them, in their order.
#ifndef TENON_KERNELS_STATE_SCATTER_H_
#define TENON_KERNELS_STATE_SCATTER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"
#include "kernels/layout/scatter.h"

namespace tenon {

// Input 0 leads to the variable, input 1 (int32 or int64) lists its rows, input 2 holds the
// updates: a scalar, or of shape indices.shape + variable.shape[1:]. All dtypes of FindScatter, but
// bools and strings are only replaced. Running, InvalidArgument where a shape does not fit, an
// index is out of range, or an integer would be divided by 0: the variable is then unchanged.
absl::StatusOr<std::unique_ptr<Kernel>> VariableScatterKernel(PrepareContext& p,
                                                              ScatterFunction function);
template <ScatterFunction function>
absl::StatusOr<std::unique_ptr<Kernel>> VariableScatterKernel(PrepareContext& p) {
  return VariableScatterKernel(p, function);
}

// What TensorScatterKernel does, on the variable that input 0 leads to. Running, InvalidArgument
// where a shape does not fit or an index is out of range (unless bad_indices_policy is IGNORE): the
// variable is then unchanged.
absl::StatusOr<std::unique_ptr<Kernel>> VariableScatterNdKernel(PrepareContext& p,
                                                                ScatterFunction function);
template <ScatterFunction function>
absl::StatusOr<std::unique_ptr<Kernel>> VariableScatterNdKernel(PrepareContext& p) {
  return VariableScatterNdKernel(p, function);
}

}  // namespace tenon

#endif  // TENON_KERNELS_STATE_SCATTER_H_
