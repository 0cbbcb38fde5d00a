#include "ops/nn/contraction_shape.h"

#include "env/status.h"
#include "kernels/matmul/matmul.h"

namespace tenon {

absl::Status CheckFusedOpShapes(const FusedOps& ops, const ShapeContext& c, const Shape& output,
                                int channel_axis) {
  for (const FusedOp& op : ops) {
    if (op.input < 0) continue;
    const bool per_channel = op.bias || op.batch_norm;
    for (int i = op.input; i < op.input + (op.batch_norm ? 4 : 1); ++i) {
      const Shape& operand = c.input(i);
      if (!operand.has_rank() || !output.has_rank()) continue;
      if (per_channel) {
        if (operand.rank() != 1 || !operand.CompatibleWith(Shape({output[channel_axis]}))) {
          return InvalidArgument("input ", i, " must have one value for each of the ",
                                 output[channel_axis], " channels, but its shape is ",
                                 operand.ToString());
        }
        continue;
      }
      bool fits = operand.rank() <= output.rank();
      for (int d = 1; fits && d <= operand.rank(); ++d) {
        const int64_t have = operand[operand.rank() - d], want = output[output.rank() - d];
        fits = have == 1 || have < 0 || want < 0 || have == want;
      }
      if (!fits) {
        return InvalidArgument("input ", i, " of shape ", operand.ToString(),
                               " does not broadcast to ", output.ToString());
      }
    }
  }
  return absl::OkStatus();
}

absl::Status SetProductShape(ShapeContext& c, Shape output) {
  TENON_ASSIGN_OR_RETURN(const FusedOps ops, ProductFusedOps(c.attrs(), c.num_inputs()));
  TENON_RETURN_IF_ERROR(CheckFusedOpShapes(ops, c, output, output.rank() - 1));
  c.set_output(0, std::move(output));
  return absl::OkStatus();
}

}  // namespace tenon
