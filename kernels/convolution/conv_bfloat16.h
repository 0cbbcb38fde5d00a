// Convolutions of bfloat16 that end with swish, with own vector code.
#ifndef TENON_KERNELS_CONVOLUTION_CONV_BFLOAT16_H_
#define TENON_KERNELS_CONVOLUTION_CONV_BFLOAT16_H_

#include <memory>

#include "kernels/contraction/fused_ops.h"
#include "kernels/convolution/conv_geometry.h"

namespace tenon {

// Pointwise convolutions, and depthwise ones with one filter per channel. oneDNN's swish takes up
// to half of their time. Two threads of Zen 4, its time and that of these loops: 112x112x16, 1x1,
// 96 filters: 423 us, 222; depthwise, 56x56x144, 3x3: 190, 134; 14x14x672, 5x5: 81, 57.
// On CPUs with AMX, conv_bfloat16_tiles.h has the pointwise ones. Unimplemented without AVX-512
// BF16, for other chains than a bias and swish, an odd number of channels in a pointwise
// convolution, and filters that are not constant.
absl::StatusOr<std::unique_ptr<Kernel>> ConvBfloat16SwishKernel(PrepareContext& p,
                                                                const ConvGeometry& g,
                                                                const FusedOps& fused);

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_CONV_BFLOAT16_H_
