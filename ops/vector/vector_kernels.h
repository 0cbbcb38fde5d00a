// Vector kernels (AVX-512, AVX2 or SSE4, chosen when the program runs) that op rows name as their
// `.accelerated`:
//
//   .accelerated = VectorUnary, .native = "_MklNativeRelu",
//
// Each finds out by the row's plain name what to compute, takes float and bfloat16 unless said
// otherwise, and gives Unimplemented for what it does not take, so that the standard kernel runs.
#ifndef TENON_OPS_VECTOR_VECTOR_KERNELS_H_
#define TENON_OPS_VECTOR_VECTOR_KERNELS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "ops/kernel.h"

namespace tenon {

// Every unary op in ops/vector/elementwise.h: Relu, Relu6, Elu, Selu, LeakyRelu (alpha), Tanh,
// Sigmoid, Softplus, _GeluExact, _Swish, Exp, Log, Sqrt, Rsqrt, Square, Abs, Neg, Erf ...
absl::StatusOr<std::unique_ptr<Kernel>> VectorUnary(PrepareContext& p);

// Every binary op in ops/vector/elementwise.h, with broadcasting: Add, AddV2, Sub, Mul, RealDiv,
// Div, Maximum, Minimum, SquaredDifference ..., BiasAdd (channels last), and AddN.
absl::StatusOr<std::unique_ptr<Kernel>> VectorBinary(PrepareContext& p);

// Softmax and LogSoftmax over the last axis.
absl::StatusOr<std::unique_ptr<Kernel>> VectorSoftmax(PrepareContext& p);

// Mean, Sum, Max, Min (input, axes; attribute keep_dims). The axes must be known. float only.
absl::StatusOr<std::unique_ptr<Kernel>> VectorReduce(PrepareContext& p);

// ConcatV2 (values..., axis), Concat (axis, values...): every dtype but string. The axis must be
// known.
absl::StatusOr<std::unique_ptr<Kernel>> VectorConcat(PrepareContext& p);

// Cast between float and bfloat16 or half.
absl::StatusOr<std::unique_ptr<Kernel>> VectorCast(PrepareContext& p);

// Transpose (x, perm): every dtype with elements of 1, 2, 4, 8 or 16 bytes. perm must be known.
absl::StatusOr<std::unique_ptr<Kernel>> VectorTranspose(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_OPS_VECTOR_VECTOR_KERNELS_H_
