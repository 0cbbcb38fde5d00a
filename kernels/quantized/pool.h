// Pools over 8-bit images [N, H, W, C]; the range (inputs 1 and 2) stays the same.
#ifndef TENON_KERNELS_QUANTIZED_POOL_H_
#define TENON_KERNELS_QUANTIZED_POOL_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"
#include "kernels/pooling/pool.h"

namespace tenon {

// By plain loops.
absl::StatusOr<std::unique_ptr<Kernel>> QuantizedMaxPoolReference(PrepareContext& p);

// By plain loops; averages are truncated towards 0.
absl::StatusOr<std::unique_ptr<Kernel>> QuantizedAveragePoolReference(PrepareContext& p);

// By oneDNN; averages are rounded.
absl::StatusOr<std::unique_ptr<Kernel>> QuantizedPoolOnednn(PrepareContext& p, PoolKind kind);
template <PoolKind kind>
absl::StatusOr<std::unique_ptr<Kernel>> QuantizedPoolOnednn(PrepareContext& p) {
  return QuantizedPoolOnednn(p, kind);
}

}  // namespace tenon

#endif  // TENON_KERNELS_QUANTIZED_POOL_H_
