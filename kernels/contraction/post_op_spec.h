// Ops that oneDNN applies itself: how each unary PostOp is said to it.
#ifndef TENON_KERNELS_CONTRACTION_POST_OP_SPEC_H_
#define TENON_KERNELS_CONTRACTION_POST_OP_SPEC_H_

#include <optional>

#include "kernels/interface/post_op.h"
#include "primitive_cache/tensor_desc.h"

namespace tenon {

// `slope` is LeakyRelu's. None for binary ops.
std::optional<PostOpSpec> EltwiseSpec(PostOp op, float slope);

// oneDNN's form of the op turns NaN into a number.
bool LosesNan(PostOp op);

}  // namespace tenon

#endif  // TENON_KERNELS_CONTRACTION_POST_OP_SPEC_H_
