// Dense layers on tensors of rank 3 and more, which Keras writes as Einsum and as products with
// broadcast weights, as products of matrices, which can be quantized:
//
//   Einsum("abc,cde->abde", x, W) + b = reshape(MatMul(reshape(x, [-1, C]), W') + b', [A, B, D, E])
#ifndef TENON_RUNTIME_QUANTIZE_DENSE_H_
#define TENON_RUNTIME_QUANTIZE_DENSE_H_

#include "absl/status/status.h"
#include "graph_rewrite/context.h"

namespace tenon {

// All Einsum and BatchMatMulV2 with constant weights behind all other dimensions; a constant bias
// that is added next goes along.
absl::Status FlattenDenseLayers(RuleContext& context);

}  // namespace tenon

#endif  // TENON_RUNTIME_QUANTIZE_DENSE_H_
