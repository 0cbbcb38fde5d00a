// Computes a convolution on a copy of the image that has the padding in it. oneDNN's direct kernels
// pad by few columns only; others go to its gemm convolution, which takes 2 to 30 times as long.
// Its kernel for AVX-512 pads by any number, but takes up to 11 times as long where long windows of
// few channels reach into the padding.
#ifndef TENON_KERNELS_CONVOLUTION_CONV_PADDED_H_
#define TENON_KERNELS_CONVOLUTION_CONV_PADDED_H_

#include <memory>

#include "kernels/contraction/fused_ops.h"
#include "kernels/convolution/conv_geometry.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// A depthwise convolution with several outputs per channel gets a copy that repeats each channel.
// Input 0 is the image, float or bfloat16, and input 1 the filter. Unimplemented if oneDNN has a
// fast direct kernel for the image itself, or none for the copy.
absl::StatusOr<std::unique_ptr<Kernel>> ConvPaddedKernel(PrepareContext& p, const ConvGeometry& g,
                                                         const FusedOps& fused);

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_CONV_PADDED_H_
