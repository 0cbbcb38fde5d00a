// A kernel for many rows and packed weights whose sums are too long for one accumulator.
#ifndef TENON_KERNELS_MATMUL_BLOCKED_KERNEL_H_
#define TENON_KERNELS_MATMUL_BLOCKED_KERNEL_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "kernels/contraction/fused_ops.h"
#include "kernels/interface/kernel.h"
#include "primitive_cache/weight_panels.h"

namespace tenon {

struct PanelSums {
  int64_t m = 0, n = 0, k = 0;
  WeightPanels panels;
  int threads = 1;
};

// Input 0 is a, as dense rows; the weights, input 1, are packed into `layout`. The output is dense.
// Requests scratch. Unimplemented if there are no loops for the panels.
absl::StatusOr<std::unique_ptr<Kernel>> BlockedKernel(PrepareContext& p, const PanelSums& product,
                                                      std::shared_ptr<const PackedLayout> layout,
                                                      const FusedOps& fused);

}  // namespace tenon

#endif  // TENON_KERNELS_MATMUL_BLOCKED_KERNEL_H_
