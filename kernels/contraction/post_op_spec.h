// oneDNN's form of the post-ops that it applies itself.
#ifndef TENON_KERNELS_CONTRACTION_POST_OP_SPEC_H_
#define TENON_KERNELS_CONTRACTION_POST_OP_SPEC_H_

#include <optional>

#include "kernels/elementwise/elementwise.h"
#include "primitive_cache/tensor_desc.h"

namespace tenon {

// Taken from the op's row (PostOpForm). None if oneDNN does not apply it, and for binary ops.
std::optional<PostOpSpec> EltwiseSpec(ElementwiseOp op, float parameter);

// Whether oneDNN's form of the op turns NaN into a number, or an infinity into NaN.
bool ChangesSpecials(ElementwiseOp op, float parameter);

}  // namespace tenon

#endif  // TENON_KERNELS_CONTRACTION_POST_OP_SPEC_H_
