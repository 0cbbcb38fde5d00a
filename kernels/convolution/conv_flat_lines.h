// Computes a depthwise convolution of few channels, as blurs and edge filters are: a line's pixels
// follow each other, so vectors reach over pixels, with weights that repeat along the line.
#ifndef TENON_KERNELS_CONVOLUTION_CONV_FLAT_LINES_H_
#define TENON_KERNELS_CONVOLUTION_CONV_FLAT_LINES_H_

#include <memory>

#include "kernels/contraction/fused_ops.h"
#include "kernels/convolution/conv_geometry.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Input 0 is a float image [N, H, W, C], input 1 a filter [H, W, C, multiplier]. Unimplemented for
// others, for as many results per pixel as a vector has, for strides along a line, and where
// oneDNN's kernels are faster.
absl::StatusOr<std::unique_ptr<Kernel>> ConvFlatLinesKernel(PrepareContext& p,
                                                            const ConvGeometry& g,
                                                            const FusedOps& fused);

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_CONV_FLAT_LINES_H_
