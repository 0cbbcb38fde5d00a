// One op of a fused chain on tiles of float results, by vector code: what Winograd's convolutions
// and VectorTail apply.
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
  const float* operand = nullptr;  // set when it runs
};

// A step of a node: `input` is the operand's, or -1.
struct NodeTileStep {
  TileStep step;
  int input = -1;
  double ns = 0;  // an element
};

// None for batch normalization, and for operands that broadcast otherwise. Channels come last.
std::optional<NodeTileStep> TileStepOf(const PrepareContext& p, const FusedOp& op);

}  // namespace tenon

#endif  // TENON_KERNELS_CONTRACTION_TILE_STEP_H_
