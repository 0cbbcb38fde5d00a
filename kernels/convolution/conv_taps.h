// Computes a convolution as one matrix product for each position of the window (a tap), on the
// image shifted by it. For dilated windows, which oneDNN's kernels for AVX2 take with few columns
// of padding only (its gemm convolution takes up to 3.5 times as long).
#ifndef TENON_KERNELS_CONVOLUTION_CONV_TAPS_H_
#define TENON_KERNELS_CONVOLUTION_CONV_TAPS_H_

#include <memory>

#include "kernels/contraction/fused_ops.h"
#include "kernels/convolution/conv_geometry.h"

namespace tenon {

// Input 0 is a float image [N, H, W, C], input 1 a constant filter. Unimplemented if the filter is
// not constant, grouped, of few channels, or not dilated; if there are strides, the image is not
// float with channels last, or oneDNN has a better kernel.
absl::StatusOr<std::unique_ptr<Kernel>> ConvTapsKernel(PrepareContext& p, const ConvGeometry& g,
                                                       const FusedOps& fused);

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_CONV_TAPS_H_
