// Computes the end of a fused chain by our own vector code right after the primitive, for ops for
// which this is faster than oneDNN's post-op even though the result is read once more.
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

  // Whether a tail can consist of `ops`: only for float results that are large enough.
  static bool CanRun(const PrepareContext& p, absl::Span<const FusedOp> ops);
  // The position in `fused` at which the tail should begin; fused.size() if nowhere.
  static size_t Begin(const PrepareContext& p, const FusedOps& fused);
  // For ops that it can run.
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
