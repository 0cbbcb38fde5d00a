// Computes a convolution as one matrix product whose rows, the pixels of each window, are gathered
// block by block while they are in the cache: there is no im2col matrix in memory. For windows for
// which oneDNN's direct kernel for AVX2 is slow: one-dimensional ones, those of large filters,
// images cut into patches, and 1x1 of few pixels.
#ifndef TENON_KERNELS_CONVOLUTION_CONV_GATHER_H_
#define TENON_KERNELS_CONVOLUTION_CONV_GATHER_H_

#include <memory>

#include "kernels/contraction/fused_ops.h"
#include "kernels/convolution/conv_geometry.h"

namespace tenon {

// Input 0 is a float image [N, H, W, C], input 1 a constant filter. Unimplemented if the filter is
// not constant, grouped, dilated or of few channels; if the image is not float with channels last,
// or oneDNN has a better kernel.
absl::StatusOr<std::unique_ptr<Kernel>> ConvGatherKernel(PrepareContext& p, const ConvGeometry& g,
                                                         const FusedOps& fused);

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_CONV_GATHER_H_
