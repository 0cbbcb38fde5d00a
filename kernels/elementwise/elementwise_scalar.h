// The elementwise ops one value at a time, by their definitions: the standard kernel of
// `_FusedElementwise`.
#ifndef TENON_KERNELS_ELEMENTWISE_ELEMENTWISE_SCALAR_H_
#define TENON_KERNELS_ELEMENTWISE_ELEMENTWISE_SCALAR_H_

#include "kernels/elementwise/elementwise.h"

namespace tenon {

// Operands that the op does not have are ignored.
template <typename F>
F ScalarElementwise(ElementwiseOp op, F a, F b, F c, F parameter);

extern template float ScalarElementwise(ElementwiseOp, float, float, float, float);
extern template double ScalarElementwise(ElementwiseOp, double, double, double, double);

}  // namespace tenon

#endif  // TENON_KERNELS_ELEMENTWISE_ELEMENTWISE_SCALAR_H_
