// Matrix product with any number of batch dimensions and any strides:
// dst[b, m, n] = sum over k of src[b, m, k] * weights[b, k, n]  (+ bias), then the post-ops.
#ifndef TENON_PRIMITIVE_CACHE_MATMUL_H_
#define TENON_PRIMITIVE_CACHE_MATMUL_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "primitive_cache/cache.h"
#include "primitive_cache/primitive.h"
#include "primitive_cache/tensor_desc.h"

namespace tenon {

// Arguments: src, weights, bias (if it has one), dst, then the operand of each binary post-op. All
// have the same number of dimensions; batch dimensions of 1 in src or weights are broadcast. No
// dimension may be 0.
struct MatmulProblem {
  TensorDesc src;
  TensorDesc weights;  // as the caller holds them
  TensorDesc dst;
  // Whether the implementation may choose the weights' layout, for weights that are packed once.
  bool pack_weights = false;
  bool has_bias = false;
  TensorDesc bias;  // dims of 1 are broadcast
  std::vector<PostOpSpec> post_ops;
  int threads = 1;

  friend bool operator==(const MatmulProblem&, const MatmulProblem&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const MatmulProblem& p) {
    return H::combine(std::move(h), p.src, p.weights, p.dst, p.pack_weights, p.has_bias, p.bias,
                      p.post_ops, p.threads);
  }
};

// Unimplemented if oneDNN has only plain loops for the problem.
absl::StatusOr<std::shared_ptr<const Primitive>> GetMatmul(const MatmulProblem& problem,
                                                           PrimitiveCache* cache);

}  // namespace tenon

#endif  // TENON_PRIMITIVE_CACHE_MATMUL_H_
