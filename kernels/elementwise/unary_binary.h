// Vector kernels of one elementwise op (AVX-512, AVX2 or SSE4, chosen at run time), for float,
// bfloat16, half and double, some also for complex64; Unimplemented for other dtypes. Rows pass the
// op:
//
//   .accelerated = VectorUnary<ElementwiseOp::kSqrt>, .native = "_MklNativeSqrt",
#ifndef TENON_KERNELS_ELEMENTWISE_UNARY_BINARY_H_
#define TENON_KERNELS_ELEMENTWISE_UNARY_BINARY_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/interface/kernel.h"

namespace tenon {

absl::StatusOr<std::unique_ptr<Kernel>> VectorUnary(PrepareContext& p, ElementwiseOp op);
// With broadcasting.
absl::StatusOr<std::unique_ptr<Kernel>> VectorBinary(PrepareContext& p, ElementwiseOp op);
// The sum of two or more inputs.
absl::StatusOr<std::unique_ptr<Kernel>> VectorAddN(PrepareContext& p);

// The same as kernel factories.
template <ElementwiseOp kOp>
absl::StatusOr<std::unique_ptr<Kernel>> VectorUnary(PrepareContext& p) {
  return VectorUnary(p, kOp);
}
template <ElementwiseOp kOp>
absl::StatusOr<std::unique_ptr<Kernel>> VectorBinary(PrepareContext& p) {
  return VectorBinary(p, kOp);
}

}  // namespace tenon

#endif  // TENON_KERNELS_ELEMENTWISE_UNARY_BINARY_H_
