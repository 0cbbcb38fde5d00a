#include "kernels/contraction/tile_step.h"

namespace tenon {
std::optional<NodeTileStep> TileStepOf(const PrepareContext& p, const FusedOp& op) {
  using Operand = TileStep::Operand;
  if (op.batch_norm) return std::nullopt;
  NodeTileStep s;
  s.input = op.input;
  s.ns = ElementwiseCost(op.op);
  s.step.parameter = op.parameter;
  if (op.binary()) {
    const Shape& operand = p.input_shape(op.input);
    const Shape& output = p.output_shape(0);
    const int64_t channels = output.rank() > 0 ? output[output.rank() - 1] : 1;
    if (operand.num_elements() == output.num_elements()) {
      s.step.kind = Operand::kWhole;
    } else if (operand.num_elements() == 1) {
      s.step.kind = Operand::kScalar;
    } else if (operand.num_elements() == channels && operand[operand.rank() - 1] == channels) {
      s.step.kind = Operand::kPerChannel;
    } else {
      return std::nullopt;
    }
  }
  const bool scalar = s.step.kind == Operand::kScalar;
  s.step.fn = FindTileFn(op.op, scalar ? TileForm::kScalarB : TileForm::kVectors);
  return s;
}

}  // namespace tenon
