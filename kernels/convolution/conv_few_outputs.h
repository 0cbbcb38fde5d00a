// Computes a convolution with few output channels, such as one that ends in an RGB image: oneDNN
// computes vectors of output channels, of which most stay empty.
#ifndef TENON_KERNELS_CONVOLUTION_CONV_FEW_OUTPUTS_H_
#define TENON_KERNELS_CONVOLUTION_CONV_FEW_OUTPUTS_H_

#include <memory>

#include "kernels/contraction/fused_ops.h"
#include "kernels/convolution/conv_geometry.h"

namespace tenon {

// Input 0 is a float image [N, H, W, C], input 1 a constant filter. Unimplemented for others, for
// many output channels, and for short sums.
absl::StatusOr<std::unique_ptr<Kernel>> ConvFewOutputsKernel(PrepareContext& p,
                                                             const ConvGeometry& g,
                                                             const FusedOps& fused);

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_CONV_FEW_OUTPUTS_H_
