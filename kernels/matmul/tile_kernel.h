// A kernel for many rows and packed weights on matrix tiles (tile_product.h).
#ifndef TENON_KERNELS_MATMUL_TILE_KERNEL_H_
#define TENON_KERNELS_MATMUL_TILE_KERNEL_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/contraction/fused_ops.h"
#include "kernels/interface/kernel.h"
#include "kernels/matmul/blocked_kernel.h"

namespace tenon {

// As BlockedKernel(). Rows with NaN, infinities or values of extreme magnitude are multiplied in
// vector code. Unimplemented if the CPU has no tiles, if they are estimated to take as long as
// vector code, and for weights with such values.
absl::StatusOr<std::unique_ptr<Kernel>> TileKernel(PrepareContext& p, const PanelSums& product,
                                                   std::shared_ptr<const PackedLayout> layout,
                                                   const FusedOps& fused,
                                                   std::unique_ptr<const RowSource> rows = nullptr);

}  // namespace tenon

#endif  // TENON_KERNELS_MATMUL_TILE_KERNEL_H_
