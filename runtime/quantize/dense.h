// Rewrites dense layers on tensors of rank 3 and more, which Keras writes as Einsum or as products
// with broadcast weights, as matrix products, which can be quantized:
//
//   Einsum("abc,cde->abde", x, W) + b = reshape(MatMul(reshape(x, [-1, C]), W') + b', [A, B, D, E])
#ifndef TENON_RUNTIME_QUANTIZE_DENSE_H_
#define TENON_RUNTIME_QUANTIZE_DENSE_H_

#include "absl/status/status.h"
#include "graph_rewrite/context.h"

namespace tenon {

enum class DenseLayers { kAll, kEinsums };

// Rewrites all Einsum and BatchMatMulV2 (or only the former) with constant weights that contract
// the last dimensions, together with a constant bias that is added next.
absl::Status FlattenDenseLayers(RuleContext& context, DenseLayers which = DenseLayers::kAll);

}  // namespace tenon

#endif  // TENON_RUNTIME_QUANTIZE_DENSE_H_
