// Gradients of a convolution in plain C++ and Eigen: every dtype, both data formats, groups,
// dilations, padding. `g` describes the forward convolution.
#ifndef TENON_KERNELS_CONVOLUTION_CONV_GRADIENT_REFERENCE_H_
#define TENON_KERNELS_CONVOLUTION_CONV_GRADIENT_REFERENCE_H_

#include "absl/status/status.h"
#include "graph/dtype.h"
#include "kernels/contraction/product_code.h"
#include "kernels/convolution/conv_geometry.h"

namespace tenon {

// Unimplemented for dtypes that convolutions do not support.
absl::Status RunInputGradient(DType dtype, const ConvGeometry& g, const void* filter,
                              const void* out_backprop, void* input_gradient, int threads,
                              ProductCode code = ProductCode::kEigen);
absl::Status RunFilterGradient(DType dtype, const ConvGeometry& g, const void* input,
                               const void* out_backprop, void* filter_gradient, int threads,
                               ProductCode code = ProductCode::kEigen);
// One sum per output channel.
absl::Status RunBiasGradient(DType dtype, const ConvGeometry& g, const void* out_backprop,
                             void* bias_gradient);

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_CONV_GRADIENT_REFERENCE_H_
