// What oneDNN (or a kernel of ours) can apply to a contraction's result before it is stored.
#ifndef TENON_OPS_POST_OP_H_
#define TENON_OPS_POST_OP_H_

namespace tenon {

enum class PostOp {
  kNone,
  // Binary: takes one extra tensor.
  kBiasAdd,  // one value per output channel
  kAdd,      // residual: the output's shape, or broadcast to it
  kMul,
  // Unary.
  kRelu,
  kRelu6,
  kElu,
  kSelu,
  kLeakyRelu,  // slope: attribute "alpha" of the op, "leakyrelu_alpha" of the fused op
  kTanh,
  kSigmoid,
  kSoftplus,
  kGeluErf,
  kGeluTanh,
  kSwish,
  kHardSwish,
  kMish,
  kExp,
  kLog,
  kSqrt,
  kSquare,
  kAbs,
};

}  // namespace tenon

#endif  // TENON_OPS_POST_OP_H_
