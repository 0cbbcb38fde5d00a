// Products of quantized matrices, [m, k] x [k, n], each side optionally transposed.
#ifndef TENON_KERNELS_QUANTIZED_QUANTIZED_MATMUL_H_
#define TENON_KERNELS_QUANTIZED_QUANTIZED_MATMUL_H_

#include <memory>

#include "kernels/quantized/quantized_fusion.h"

namespace tenon {

// The attribute input_quant_mode: true for MIN_FIRST, false for SCALED.
absl::StatusOr<bool> MinFirst(const AttrReader& attrs);

// Symmetric signed weights, with everything in a QuantizedFusion. Attribute input_quant_mode: in
// MIN_FIRST data the lowest integer represents min, in SCALED data 0 represents 0.
absl::StatusOr<std::unique_ptr<Kernel>> QuantizedMatMulReference(PrepareContext& p,
                                                                 const QuantizedFusion& fusion);
absl::StatusOr<std::unique_ptr<Kernel>> QuantizedMatMulOnednn(PrepareContext& p,
                                                              const QuantizedFusion& fusion);

// Both sides unsigned, each with its own zero point: QuantizedMatMul.
absl::StatusOr<std::unique_ptr<Kernel>> UnsignedMatMulReference(PrepareContext& p);
absl::StatusOr<std::unique_ptr<Kernel>> UnsignedMatMulVector(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_QUANTIZED_QUANTIZED_MATMUL_H_
