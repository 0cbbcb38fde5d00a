// Products of quantized matrices, [m, k] x [k, n], each side transposed on request.
#ifndef TENON_KERNELS_QUANTIZED_QUANTIZED_MATMUL_H_
#define TENON_KERNELS_QUANTIZED_QUANTIZED_MATMUL_H_

#include <memory>

#include "kernels/quantized/quantized_fusion.h"

namespace tenon {

// What the attribute input_quant_mode says: true for MIN_FIRST, false for SCALED.
absl::StatusOr<bool> MinFirst(const AttrReader& attrs);

// Signed weights around 0, and all that a QuantizedFusion says. Attribute input_quant_mode:
// MIN_FIRST data have their lowest integer at min, SCALED data 0 at 0.
absl::StatusOr<std::unique_ptr<Kernel>> QuantizedMatMulReference(PrepareContext& p,
                                                                 const QuantizedFusion& fusion);
absl::StatusOr<std::unique_ptr<Kernel>> QuantizedMatMulOnednn(PrepareContext& p,
                                                              const QuantizedFusion& fusion);

// Both sides unsigned, each with a zero point of its own: QuantizedMatMul.
absl::StatusOr<std::unique_ptr<Kernel>> UnsignedMatMulReference(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_QUANTIZED_QUANTIZED_MATMUL_H_
