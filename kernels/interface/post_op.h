// Post-ops: what oneDNN (or a kernel of ours) can apply to a contraction's result before storing
// it.
#ifndef TENON_KERNELS_INTERFACE_POST_OP_H_
#define TENON_KERNELS_INTERFACE_POST_OP_H_

#include "absl/strings/string_view.h"

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

// The post-op of a name in `fused_ops`: as given by the row of that op, or TensorFlow's own
// spelling. kNone: none.
PostOp FindPostOp(absl::string_view name);
// The op table calls this for each row with a post-op, before main.
void RegisterPostOp(absl::string_view name, PostOp post_op);

}  // namespace tenon

#endif  // TENON_KERNELS_INTERFACE_POST_OP_H_
