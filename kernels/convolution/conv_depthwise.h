// Computes a depthwise convolution of wide windows, or a small one, line by line.
#ifndef TENON_KERNELS_CONVOLUTION_CONV_DEPTHWISE_H_
#define TENON_KERNELS_CONVOLUTION_CONV_DEPTHWISE_H_

#include <memory>

#include "kernels/contraction/fused_ops.h"
#include "kernels/convolution/conv_geometry.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Input 0 is a float image [N, H, W, C], input 1 a filter of C channels. Unimplemented for others,
// for few channels, and where oneDNN's kernels are faster.
absl::StatusOr<std::unique_ptr<Kernel>> ConvDepthwiseKernel(PrepareContext& p,
                                                            const ConvGeometry& g,
                                                            const FusedOps& fused);

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_CONV_DEPTHWISE_H_
