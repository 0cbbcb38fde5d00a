// Pools: max and average over 2 or 3 spatial dimensions.
#ifndef TENON_KERNELS_POOLING_POOL_H_
#define TENON_KERNELS_POOLING_POOL_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

enum class PoolKind { kMax, kAverage };

absl::StatusOr<std::unique_ptr<Kernel>> PoolReferenceKernel(PrepareContext& p, int spatial,
                                                            PoolKind kind);
absl::StatusOr<std::unique_ptr<Kernel>> PoolOnednnKernel(PrepareContext& p, int spatial,
                                                         PoolKind kind);

}  // namespace tenon

#endif  // TENON_KERNELS_POOLING_POOL_H_
