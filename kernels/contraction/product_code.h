#ifndef TENON_KERNELS_CONTRACTION_PRODUCT_CODE_H_
#define TENON_KERNELS_CONTRACTION_PRODUCT_CODE_H_

#include <cstdint>

namespace tenon {

// What multiplies matrices: Eigen, or our own vector code, which is for doubles and complex
// numbers.
enum class ProductCode : uint8_t { kEigen, kVectors };

}  // namespace tenon

#endif  // TENON_KERNELS_CONTRACTION_PRODUCT_CODE_H_
