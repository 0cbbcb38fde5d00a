// The end of a fused chain, computed by our own vector code right after the primitive, where that
// is faster than oneDNN's post-op though the result is read once more.
#ifndef TENON_KERNELS_CONTRACTION_VECTOR_TAIL_H_
#define TENON_KERNELS_CONTRACTION_VECTOR_TAIL_H_

#include <vector>

#include "absl/types/span.h"
#include "kernels/contraction/fused_ops.h"
#include "kernels/contraction/tile_step.h"
#include "kernels/interface/kernel.h"

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

#endif  // TENON_KERNELS_CONTRACTION_VECTOR_TAIL_H_
