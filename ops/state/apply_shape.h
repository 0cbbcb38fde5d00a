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

}  // namespace tenon

#endif  // TENON_OPS_STATE_APPLY_SHAPE_H_
