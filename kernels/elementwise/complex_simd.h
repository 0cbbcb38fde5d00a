// Loops of elementwise ops on complex64, compiled for each instruction set.
#ifndef TENON_KERNELS_ELEMENTWISE_COMPLEX_SIMD_H_
#define TENON_KERNELS_ELEMENTWISE_COMPLEX_SIMD_H_

#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/reference.h"

namespace tenon {

// y[i] = op(x[i]) and out[i] = op(a[i], b[i]): Exp, Log, Sqrt; Mul, Div. Null for other ops. Where
// a number is not finite, or so large or small that a step of the vector form has no number for
// it, an element is computed by the op's formula (formulas.h). Every element's bits are independent
// of its position.
using ComplexUnaryFn = void (*)(const void* x, void* y, int64_t n);
ComplexUnaryFn FindComplexUnary(ElementwiseOp op);
BinaryLoop FindComplexBinary(ElementwiseOp op);

}  // namespace tenon

#endif  // TENON_KERNELS_ELEMENTWISE_COMPLEX_SIMD_H_
