// Loops of the elementwise ops on doubles, compiled for each instruction set. Functions are those
// of glibc's vector library: within 4 ulps.
#ifndef TENON_KERNELS_ELEMENTWISE_DOUBLE_SIMD_H_
#define TENON_KERNELS_ELEMENTWISE_DOUBLE_SIMD_H_

#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/reference.h"

namespace tenon {

// out[i] = op(a[i]) and op(a[i], b[i]). Every element's bits are independent of its position. Null
// for ops with a parameter, with another number of operands, and without a vector form.
using DoubleUnaryFn = void (*)(const void* a, void* out, int64_t n);
DoubleUnaryFn FindDoubleUnary(ElementwiseOp op);
BinaryLoop FindDoubleBinary(ElementwiseOp op);

}  // namespace tenon

#endif  // TENON_KERNELS_ELEMENTWISE_DOUBLE_SIMD_H_
