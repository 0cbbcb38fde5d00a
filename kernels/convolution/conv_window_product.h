// Computes a convolution of few input channels, such as the first of a network, or of windows of
// one line as products of rows: a line of the window is adjacent in the image, so the windows of a
// line's pixels are rows that overlap, in as many segments as the window has lines.
#ifndef TENON_KERNELS_CONVOLUTION_CONV_WINDOW_PRODUCT_H_
#define TENON_KERNELS_CONVOLUTION_CONV_WINDOW_PRODUCT_H_

#include <memory>

#include "kernels/contraction/fused_ops.h"
#include "kernels/convolution/conv_geometry.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Input 0 is a float image [N, H, W, C], input 1 a constant filter. Unimplemented for others, for
// groups, windows dilated along their lines, and where oneDNN's kernels are as fast.
absl::StatusOr<std::unique_ptr<Kernel>> ConvWindowProductKernel(PrepareContext& p,
                                                                const ConvGeometry& g,
                                                                const FusedOps& fused);

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_CONV_WINDOW_PRODUCT_H_
