// Products of float activations with constant weights that are stored smaller than floats:
//
//   out[..., N] = a[..., K] * w[K, N],  w = (element - zero) * scale
//
// Weights are bfloat16, half, 8-bit integers, or (bits = 4) two integers from 0 to 15 per byte,
// from which 8 is subtracted. They are a matrix [K, N], or [N, K] if `transposed`. Scales and zeros
// have one value per `group` rows and column: [K / group, N], transposed like the weights. K may be
// less than the stored rows. Of each group of 4-bit integers, byte i has element i in its low half
// and element i + group / 2 in its high half.
#ifndef TENON_KERNELS_MATMUL_WEIGHT_ONLY_H_
#define TENON_KERNELS_MATMUL_WEIGHT_ONLY_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "graph/attr_reader.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Attributes and sizes; inputs are a, weights, [scales, [zeros]], arguments of the fused chain.
struct WeightOnly {
  int64_t rows = 0, columns = 0;  // of the stored matrix, in numbers
  int64_t group = 0, groups = 0;
  int bits = 8;
  bool transposed = false;
  bool scaled = false, zeros = false;
};
// InvalidArgument if shapes and attributes do not fit. `scales` is ignored if there are none.
absl::StatusOr<WeightOnly> DescribeWeightOnly(const AttrReader& attrs, const Shape& weights,
                                              const Shape& scales);

// The weights as floats, [rows, columns] of the stored matrix or its transpose as stored.
void ExpandWeights(const WeightOnly& w, DType weights_type, const void* weights, DType scale_type,
                   const void* scales, const void* zeros, float* to);

absl::StatusOr<std::unique_ptr<Kernel>> WeightOnlyReference(PrepareContext& p);
absl::StatusOr<std::unique_ptr<Kernel>> WeightOnlyPanels(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_MATMUL_WEIGHT_ONLY_H_
