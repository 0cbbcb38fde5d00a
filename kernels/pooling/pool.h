// Pools: max and average over 2 or 3 spatial dimensions.
#ifndef TENON_KERNELS_POOLING_POOL_H_
#define TENON_KERNELS_POOLING_POOL_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"
#include "kernels/pooling/pool_geometry.h"

namespace tenon {

enum class PoolKind { kMax, kAverage };

// Of the node at hand; Unimplemented if its window is an input whose value is not known.
absl::StatusOr<PoolGeometry> PoolGeometryOf(PrepareContext& p, int spatial);

absl::StatusOr<std::unique_ptr<Kernel>> PoolReferenceKernel(PrepareContext& p, int spatial,
                                                            PoolKind kind);
// Unimplemented where oneDNN's is the better one: channels first, other types than float and
// bfloat16, few rows of results.
absl::StatusOr<std::unique_ptr<Kernel>> PoolVectorKernel(PrepareContext& p, int spatial,
                                                         PoolKind kind);
absl::StatusOr<std::unique_ptr<Kernel>> PoolOnednnKernel(PrepareContext& p, int spatial,
                                                         PoolKind kind);

}  // namespace tenon

#endif  // TENON_KERNELS_POOLING_POOL_H_
