// A kernel that multiplies by weights in panels and applies the fused chain while its results are
// in the cache.
#ifndef TENON_KERNELS_MATMUL_PANEL_KERNEL_H_
#define TENON_KERNELS_MATMUL_PANEL_KERNEL_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "kernels/contraction/fused_ops.h"
#include "kernels/contraction/packed_weights.h"
#include "kernels/interface/kernel.h"
#include "kernels/matmul/blocked_kernel.h"
#include "kernels/matmul/panel_product_simd.h"

namespace tenon {

struct PanelWeights {
  std::shared_ptr<const PackedWeights> weights, scales, zeros;  // the last two may be null
};

// Input 0 is a, as product.m dense rows. Its output is dense, with columns last. Requests scratch.
// Unimplemented if there are no loops for the product.
absl::StatusOr<std::unique_ptr<Kernel>> PanelKernel(PrepareContext& p, const PanelProduct& product,
                                                    PanelWeights weights, const FusedOps& fused);

// Rows up to which most of the time goes into reading weights, once for all of them.
inline constexpr int64_t kFewRows = 8;
// The same for at most kFewRows rows of input 0 and floats, constant input 1, packed into `layout`.
absl::StatusOr<std::unique_ptr<Kernel>> FewRowsKernel(PrepareContext& p, const PanelSums& product,
                                                      std::shared_ptr<const PackedLayout> layout,
                                                      const FusedOps& fused);

}  // namespace tenon

#endif  // TENON_KERNELS_MATMUL_PANEL_KERNEL_H_
