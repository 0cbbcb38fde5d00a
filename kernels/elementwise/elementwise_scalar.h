// The elementwise ops on scalars, selected at run time: for the reference kernel of
// `_FusedElementwise`, and for post-ops that a plain pass applies.
#ifndef TENON_KERNELS_ELEMENTWISE_ELEMENTWISE_SCALAR_H_
#define TENON_KERNELS_ELEMENTWISE_ELEMENTWISE_SCALAR_H_

#include <cstdint>

#include "kernels/elementwise/elementwise.h"

namespace tenon {

// Computes one float or double element. Operands that the op does not have are ignored.
template <typename F>
F ScalarElementwise(ElementwiseOp op, F a, F b, F c, F parameter);

// y[i] = op(y[i]) for an op with one operand. For float, double, half and bfloat16; the latter two
// compute in float and round the result.
template <typename T>
void ScalarUnaryRow(ElementwiseOp op, T* y, int64_t n, float parameter);

}  // namespace tenon

#endif  // TENON_KERNELS_ELEMENTWISE_ELEMENTWISE_SCALAR_H_
