// Computes a convolution of few channels with few filters, as the first layer of a small network
// is: oneDNN computes vectors of one pixel's output channels, of which much stays empty.
#ifndef TENON_KERNELS_CONVOLUTION_CONV_PIXEL_VECTORS_H_
#define TENON_KERNELS_CONVOLUTION_CONV_PIXEL_VECTORS_H_

#include <memory>

#include "kernels/contraction/fused_ops.h"
#include "kernels/convolution/conv_geometry.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Input 0 is a float image [N, H, W, C], input 1 a constant filter. Unimplemented for others, for
// many channels or filters, and for long sums.
absl::StatusOr<std::unique_ptr<Kernel>> ConvPixelVectorsKernel(PrepareContext& p,
                                                               const ConvGeometry& g,
                                                               const FusedOps& fused);

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_CONV_PIXEL_VECTORS_H_
