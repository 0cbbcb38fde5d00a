// One op of a fused chain, applied to tiles of float results by vector code; used by Winograd's
// convolutions and VectorTail.
#ifndef TENON_KERNELS_CONTRACTION_TILE_STEP_H_
#define TENON_KERNELS_CONTRACTION_TILE_STEP_H_

#include <optional>

#include "kernels/contraction/fused_ops.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// out = fn(out, operand), while the tile is in the cache.
struct TileStep {
  enum class Operand { kNone, kScalar, kPerChannel, kWhole };  // kWhole: of the output's shape
  TileFn fn = nullptr;
  float parameter = 0;
  Operand kind = Operand::kNone;
  const float* operand = nullptr;  // set at run time
};

// A step of a node: `input` is the operand's input, or -1.
struct NodeTileStep {
  TileStep step;
  int input = -1;
  double ns = 0;  // per element
};

// None for batch normalization, and for operands with other forms of broadcasting. Channels come
// last.
std::optional<NodeTileStep> TileStepOf(const PrepareContext& p, const FusedOp& op);

}  // namespace tenon

#endif  // TENON_KERNELS_CONTRACTION_TILE_STEP_H_
