// Convolutions with 1x1 filters, which are products of matrices: a row for each pixel.
#ifndef TENON_KERNELS_CONVOLUTION_CONV_POINTWISE_H_
#define TENON_KERNELS_CONVOLUTION_CONV_POINTWISE_H_

#include <memory>

#include "kernels/contraction/fused_ops.h"
#include "kernels/convolution/conv_geometry.h"

namespace tenon {

// Whether the windows are the pixels of the image, without padding.
bool ReadsEachPixelOnce(const ConvGeometry& g);

// Such a convolution of channels-last images, whose batch becomes part of the height: oneDNN
// computes each image for itself, 64 pixels in 64 images 2.5 to 3 times as long as in one (Zen 3).
// Others stay as they are.
ConvGeometry AsOneImage(ConvGeometry g);

// For a small filter, by RowKernel; for others Unimplemented.
absl::StatusOr<std::unique_ptr<Kernel>> ConvRowsKernel(PrepareContext& p, const ConvGeometry& g,
                                                       const FusedOps& fused);

// For few pixels and a large filter: reads the filter at the speed of memory. Batch 1, 1x1x960,
// 1280 filters: 46 us, oneDNN's convolution 80 (Zen 3, 2 threads). Unimplemented if there are many,
// the image is not float with channels last, or the filter not constant.
absl::StatusOr<std::unique_ptr<Kernel>> ConvPointwiseKernel(PrepareContext& p,
                                                            const ConvGeometry& g,
                                                            const FusedOps& fused);

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_CONV_POINTWISE_H_
