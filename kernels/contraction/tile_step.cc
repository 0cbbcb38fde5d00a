#include "kernels/contraction/tile_step.h"

namespace tenon {
namespace {

std::optional<ElementwiseOp> TileOpOf(PostOp op) {
  switch (op) {
    case PostOp::kBiasAdd:
    case PostOp::kAdd:
      return ElementwiseOp::kAdd;
    case PostOp::kMul:
      return ElementwiseOp::kMul;
    case PostOp::kRelu:
      return ElementwiseOp::kRelu;
    case PostOp::kRelu6:
      return ElementwiseOp::kRelu6;
    case PostOp::kElu:
      return ElementwiseOp::kElu;
    case PostOp::kSelu:
      return ElementwiseOp::kSelu;
    case PostOp::kLeakyRelu:
      return ElementwiseOp::kLeakyRelu;
    case PostOp::kTanh:
      return ElementwiseOp::kTanh;
    case PostOp::kSigmoid:
      return ElementwiseOp::kSigmoid;
    case PostOp::kSoftplus:
      return ElementwiseOp::kSoftplus;
    case PostOp::kGeluErf:
      return ElementwiseOp::kGeluExact;
    case PostOp::kGeluTanh:
      return ElementwiseOp::kGeluApproximate;
    case PostOp::kSwish:
      return ElementwiseOp::kSwish;
    case PostOp::kHardSwish:
      return ElementwiseOp::kHardSwish;
    case PostOp::kMish:
      return ElementwiseOp::kMish;
    case PostOp::kExp:
      return ElementwiseOp::kExp;
    case PostOp::kLog:
      return ElementwiseOp::kLog;
    case PostOp::kSqrt:
      return ElementwiseOp::kSqrt;
    case PostOp::kSquare:
      return ElementwiseOp::kSquare;
    case PostOp::kAbs:
      return ElementwiseOp::kAbs;
    case PostOp::kNone:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<NodeTileStep> TileStepOf(const PrepareContext& p, const FusedOp& op) {
  using Operand = TileStep::Operand;
  const std::optional<ElementwiseOp> tile_op = TileOpOf(op.op);
  if (!tile_op.has_value()) return std::nullopt;
  NodeTileStep s;
  s.input = op.input;
  s.ns = ElementwiseCost(*tile_op);
  s.step.parameter = op.alpha;
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
  s.step.fn = FindTileFn(*tile_op, scalar ? TileForm::kScalarB : TileForm::kVectors);
  return s;
}

}  // namespace tenon
