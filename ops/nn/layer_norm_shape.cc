#include "ops/nn/layer_norm_shape.h"

#include "env/status.h"

namespace tenon {

absl::Status LastAxisNormShape(ShapeContext& c, int parameters) {
  Shape x = c.input(0);
  if (x.has_rank() && x.rank() == 0) return InvalidArgument("x must have a last axis");
  if (c.num_inputs() == 2 + parameters) {
    TENON_ASSIGN_OR_RETURN(x, BroadcastShapes(x, c.input(1)));
  }
  for (int i = c.num_inputs() - parameters; i < c.num_inputs(); ++i) {
    TENON_RETURN_IF_ERROR(c.ExpectRank(i, 1));
    if (!x.has_rank() || !c.input(i).has_rank()) continue;
    const int64_t have = c.input(i).dim(0), want = x.dim(x.rank() - 1);
    if (have != want && have >= 0 && want >= 0) {
      return InvalidArgument("a parameter must have ", want, " elements, but has ", have);
    }
  }
  for (int o = 0; o < c.num_outputs(); ++o) c.set_output(o, x);
  return absl::OkStatus();
}

}  // namespace tenon
