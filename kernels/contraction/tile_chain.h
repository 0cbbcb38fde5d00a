// The fused chain of a kernel that computes its float output part by part: applied to each part
// while it is in the cache, if every op of the chain can be, and to the whole output otherwise.
#ifndef TENON_KERNELS_CONTRACTION_TILE_CHAIN_H_
#define TENON_KERNELS_CONTRACTION_TILE_CHAIN_H_

#include <cstddef>
#include <vector>

#include "kernels/contraction/fused_ops.h"
#include "kernels/contraction/tile_step.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// The rows [row, row + rows) and columns [column, column + columns) of output 0.
struct OutputPart {
  size_t row = 0, rows = 0, column = 0, columns = 0;
};

class TileChain {
 public:
  // `columns`: of the output as a dense matrix; its channels.
  TileChain(const PrepareContext& p, const FusedOps& fused, size_t columns);
  // Whether parts are all that it needs, and Finish does nothing.
  bool InParts() const { return rest_.empty(); }
  // To be called for each part once it is computed,
  void Apply(RunContext& r, const OutputPart& part) const;
  // or, InParts(), for one that is elsewhere, its rows `row` floats apart,
  void ApplyAt(RunContext& r, const OutputPart& part, float* out, size_t row) const;
  // and then once.
  void Finish(RunContext& r) const;

 private:
  size_t columns_;
  std::vector<NodeTileStep> steps_;
  size_t row_operands_ = 0;  // operands that are a row of the output
  bool whole_operands_ = false;
  FusedPass rest_;
};

}  // namespace tenon

#endif  // TENON_KERNELS_CONTRACTION_TILE_CHAIN_H_
