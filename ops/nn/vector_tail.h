// The end of a fused chain, computed by our own vector code right after the primitive, where that
// is faster than oneDNN's post-op though the result is read once more.
#ifndef TENON_OPS_NN_VECTOR_TAIL_H_
#define TENON_OPS_NN_VECTOR_TAIL_H_

#include <vector>

#include "absl/types/span.h"
#include "kernels/interface/kernel.h"
#include "ops/nn/fused_ops.h"
#include "ops/nn/tile_step.h"

namespace tenon {

class VectorTail {
 public:
  VectorTail() = default;

  // Where in `fused` the tail should begin; fused.size(): nowhere. Of float results only, and of
  // those large enough.
  static size_t Begin(const PrepareContext& p, const FusedOps& fused);
  // For ops[Begin..].
  VectorTail(const PrepareContext& p, absl::Span<const FusedOp> ops);

  // In place over the result.
  void Run(RunContext& r, void* result) const;

 private:
  std::vector<NodeTileStep> steps_;
  int64_t elements_ = 0;
  int64_t grain_ = 1;
  int threads_ = 1;
};

}  // namespace tenon

#endif  // TENON_OPS_NN_VECTOR_TAIL_H_
