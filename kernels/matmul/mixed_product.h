// Products of float and bfloat16 matrices, computed in float.
#ifndef TENON_KERNELS_MATMUL_MIXED_PRODUCT_H_
#define TENON_KERNELS_MATMUL_MIXED_PRODUCT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Inputs: two matrices, each float or bfloat16, transposed by attributes transpose_a and
// transpose_b. The output is float.
absl::StatusOr<std::unique_ptr<Kernel>> MixedProduct(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_MATMUL_MIXED_PRODUCT_H_
