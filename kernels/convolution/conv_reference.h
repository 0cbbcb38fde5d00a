// Convolution in plain C++ and Eigen: every dtype, both data formats, groups, dilations, padding.
#ifndef TENON_KERNELS_CONVOLUTION_CONV_REFERENCE_H_
#define TENON_KERNELS_CONVOLUTION_CONV_REFERENCE_H_

#include "absl/status/statusor.h"
#include "graph/dtype.h"
#include "kernels/contraction/product_code.h"
#include "kernels/convolution/conv_geometry.h"

namespace tenon {

// Unimplemented for dtypes that convolutions do not support. `code` is for doubles.
absl::Status RunConvReference(DType dtype, const ConvGeometry& g, const void* input,
                              const void* filter, void* output, int threads,
                              ProductCode code = ProductCode::kEigen);

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_CONV_REFERENCE_H_
