// The fused chain of a _Fused… contraction: the parsed `fused_ops` attribute, and a plain pass that
// applies it in memory. Reference kernels use that pass for the whole chain, the oneDNN kernels for
// the ops that the primitive does not support as post-ops.
#ifndef TENON_KERNELS_CONTRACTION_FUSED_OPS_H_
#define TENON_KERNELS_CONTRACTION_FUSED_OPS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/dtype.h"
#include "graph/shape.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/interface/kernel.h"

namespace tenon {

struct FusedOp {
  ElementwiseOp op = ElementwiseOp::kCopy;
  bool bias = false;        // "BiasAdd": op is kAdd, with one value per channel
  bool batch_norm = false;  // "FusedBatchNorm": inputs input .. input + 3 are scale, offset, mean,
                            // variance; op is kCopy
  int input = -1;           // the node's input that a binary op reads
  float parameter = 0;      // of an op that has one (LeakyRelu's slope)
  float epsilon = 0;        // batch norm's

  bool binary() const { return Arity(op) == 2; }
};
using FusedOps = std::vector<FusedOp>;

// Reads the attributes fused_ops, epsilon and parameters (leakyrelu_alpha); extra inputs start at
// `first_input`. InvalidArgument if a name is unknown or the number of inputs is wrong.
absl::StatusOr<FusedOps> ParseFusedOps(const AttrReader& attrs, int first_input, int num_inputs);

// FusedOps bound to a result's shape and dtype.
class FusedPass {
 public:
  FusedPass() = default;
  // Applies `ops` from `first` on. The result is row-major with channels at `channel_axis`.
  FusedPass(const PrepareContext& p, absl::Span<const FusedOp> ops, int channel_axis);

  bool empty() const { return steps_.empty(); }
  // In place over the result.
  void Run(RunContext& r, void* result) const;

 private:
  struct Step {
    FusedOp op;
    Shape::Dims operand_strides;  // in elements, per dimension of the result; 0: broadcast
  };
  template <typename T>
  void RunTyped(RunContext& r, T* result) const;

  DType dtype_ = DType::kInvalid;
  Shape shape_;
  int threads_ = 1;
  std::vector<Step> steps_;
};

}  // namespace tenon

#endif  // TENON_KERNELS_CONTRACTION_FUSED_OPS_H_
