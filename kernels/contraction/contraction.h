// The common part of the oneDNN kernels of convolutions and matrix products: turns the fused chain
// into post-ops as far as the primitive supports them, packs constant weights once, and may add a
// residual in place.
#ifndef TENON_KERNELS_CONTRACTION_CONTRACTION_H_
#define TENON_KERNELS_CONTRACTION_CONTRACTION_H_

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/contraction/fused_ops.h"
#include "kernels/interface/kernel.h"
#include "primitive_cache/primitive.h"
#include "primitive_cache/tensor_desc.h"

namespace tenon {

// Unimplemented for dtypes that oneDNN does not contract.
absl::StatusOr<ElementType> ElementTypeOf(DType dtype);

// How many of `threads` are worth using: below some microseconds of work, a second thread costs
// more than it gains. `bytes` that are read only once (weights) count too.
int ThreadsWorth(int threads, double flops, size_t bytes);

// Whether two of the node's inputs are the same tensor.
bool SameInput(const PrepareContext& p, int a, int b);

// Whether TENON_STRICT_NAN requests TensorFlow's treatment of NaN and infinities.
bool StrictNan(const PrepareContext& p);

struct Contraction {
  // The primitive with arguments src, weights, [bias], dst, operands of binary post-ops.
  using Get = std::function<absl::StatusOr<std::shared_ptr<const Primitive>>(
      bool has_bias, const std::vector<PostOpSpec>& post_ops)>;
  Get get;
  int src_input = 0;
  int weights_input = 1;
  // Whether the bias is the primitive's own argument; otherwise it is a binary post-op.
  bool native_bias = true;
  FusedOps fused;
  int channel_axis = 0;  // of the output, for BiasAdd
  // Makes the source from its input, in source_bytes of memory; null: the input is the source.
  std::function<void(const void* input, void* source)> make_source;
  size_t source_bytes = 0;
  // An extra input in the primitive's logical dimensions (1: broadcast); Unimplemented if its shape
  // cannot be expressed in them.
  std::function<absl::StatusOr<TensorDesc>(const FusedOp& op, const Shape& operand)> operand;
  double flops = 0;
};

// Unimplemented if not even the bare contraction has a compiled implementation.
absl::StatusOr<std::unique_ptr<Kernel>> PrepareContraction(PrepareContext& p, Contraction c);

// A kernel for empty outputs, and for outputs that are all zeros before the fused chain (an empty
// sum).
std::unique_ptr<Kernel> ZeroContraction(PrepareContext& p, const FusedOps& fused, int channel_axis);

}  // namespace tenon

#endif  // TENON_KERNELS_CONTRACTION_CONTRACTION_H_
