// Convolutions of bfloat16 on matrix tiles (AMX).
#ifndef TENON_KERNELS_CONVOLUTION_CONV_BFLOAT16_TILES_H_
#define TENON_KERNELS_CONVOLUTION_CONV_BFLOAT16_TILES_H_

#include <memory>

#include "kernels/contraction/fused_ops.h"
#include "kernels/convolution/conv_geometry.h"

namespace tenon {

// Of images [N, H, W, C] with constant filters, with a chain of a bias, an addend of the result's
// shape, and Relu, Relu6, swish or GELU. Unimplemented without tiles, for groups, and for windows
// of few channels or with large strides. Two threads, the time of oneDNN's brgconv kernels over
// that of these: 1x1 with swish 1.3 to 1.9, of 14x14 pixels or fewer 1.1 to 1.5, of 56x56, where
// both wait for memory, 0.85 to 1.1; 3x3 0.85 to 1.25, the less for many pixels of few channels;
// 1x3 with stride 2 over 512 channels and GELU 3.4.
absl::StatusOr<std::unique_ptr<Kernel>> ConvBfloat16TilesKernel(PrepareContext& p,
                                                                const ConvGeometry& g,
                                                                const FusedOps& fused);

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_CONV_BFLOAT16_TILES_H_
