// The shape function of optimizer ops (kernels/state/optimizers.h).
#ifndef TENON_OPS_STATE_APPLY_SHAPE_H_
#define TENON_OPS_STATE_APPLY_SHAPE_H_

#include "env/status.h"
#include "kernels/state/optimizers.h"
#include "ops/shape_fn.h"

namespace tenon {

// The scalars must be scalars.
template <ApplyInputs kInputs>
absl::Status ApplyShape(ShapeContext& c) {
  for (int i = kInputs.variables; i < c.num_inputs(); ++i) {
    if (i != kInputs.gradient) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 0));
  }
  return absl::OkStatus();
}

// Likewise; the gradient has a row for each of the indices, the next input.
template <ApplyInputs kInputs>
absl::Status SparseApplyShape(ShapeContext& c) {
  constexpr int kIndices = kInputs.gradient + 1;
  for (int i = kInputs.variables; i < c.num_inputs(); ++i) {
    if (i == kIndices) {
      TENON_RETURN_IF_ERROR(c.ExpectRank(i, 1));
    } else if (i != kInputs.gradient) {
      TENON_RETURN_IF_ERROR(c.ExpectRank(i, 0));
    }
  }
  const Shape &gradient = c.input(kInputs.gradient), &indices = c.input(kIndices);
  if (!gradient.has_rank() || !indices.has_rank()) return absl::OkStatus();
  if (gradient.rank() == 0 || !Shape({gradient.dim(0)}).CompatibleWith(indices)) {
    return InvalidArgument("a gradient of shape ", gradient.ToString(), " for indices of shape ",
                           indices.ToString());
  }
  return absl::OkStatus();
}

}  // namespace tenon

#endif  // TENON_OPS_STATE_APPLY_SHAPE_H_
