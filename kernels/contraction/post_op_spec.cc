#include "kernels/contraction/post_op_spec.h"

namespace tenon {

std::optional<PostOpSpec> EltwiseSpec(PostOp op, float slope) {
  struct Row {
    PostOp op;
    Eltwise eltwise;
    float alpha, beta, scale;
  };
  // Not Softplus: oneDNN's soft_relu is off by up to 8e-6 where x is far below zero.
  static constexpr Row kRows[] = {
      {PostOp::kRelu, Eltwise::kRelu, 0, 0, 1},
      {PostOp::kRelu6, Eltwise::kClip, 0, 6, 1},
      {PostOp::kElu, Eltwise::kElu, 1, 0, 1},
      {PostOp::kSelu, Eltwise::kElu, 1.67326324235437728f, 0, 1.05070098735548049f},
      {PostOp::kTanh, Eltwise::kTanh, 0, 0, 1},
      {PostOp::kSigmoid, Eltwise::kLogistic, 0, 0, 1},
      {PostOp::kGeluErf, Eltwise::kGeluErf, 0, 0, 1},
      {PostOp::kGeluTanh, Eltwise::kGeluTanh, 0, 0, 1},
      {PostOp::kSwish, Eltwise::kSwish, 1, 0, 1},
      {PostOp::kHardSwish, Eltwise::kHardSwish, 0, 0, 1},
      {PostOp::kMish, Eltwise::kMish, 0, 0, 1},
      {PostOp::kExp, Eltwise::kExp, 0, 0, 1},
      {PostOp::kLog, Eltwise::kLog, 0, 0, 1},
      {PostOp::kSqrt, Eltwise::kSqrt, 0, 0, 1},
      {PostOp::kSquare, Eltwise::kSquare, 0, 0, 1},
      {PostOp::kAbs, Eltwise::kAbs, 0, 0, 1},
  };
  PostOpSpec spec;
  spec.kind = PostOpSpec::Kind::kEltwise;
  if (op == PostOp::kLeakyRelu) {
    spec.eltwise = Eltwise::kRelu;
    spec.alpha = slope;
    return spec;
  }
  for (const Row& row : kRows) {
    if (row.op != op) continue;
    spec.eltwise = row.eltwise;
    spec.alpha = row.alpha;
    spec.beta = row.beta;
    spec.scale = row.scale;
    return spec;
  }
  return std::nullopt;
}

bool LosesNan(PostOp op) {
  switch (op) {
    case PostOp::kRelu:
    case PostOp::kRelu6:
    case PostOp::kHardSwish:
      return true;
    default:
      return false;
  }
}

}  // namespace tenon
