// Convolutions of bfloat16 that end with swish, with own vector code.
#ifndef TENON_KERNELS_CONVOLUTION_CONV_BFLOAT16_H_
#define TENON_KERNELS_CONVOLUTION_CONV_BFLOAT16_H_

#include <memory>

#include "kernels/contraction/fused_ops.h"
#include "kernels/convolution/conv_geometry.h"

namespace tenon {

// 1x1 filters. oneDNN's swish takes half of such a convolution's time, if few channels are summed
// over more: 112x112x16, 96 filters, two threads of Zen 4: 443 us, these loops NEW. Unimplemented
// without AVX-512 BF16, on CPUs with AMX, for other chains than a bias and swish, an odd number of
// channels, and filters that are not constant.
absl::StatusOr<std::unique_ptr<Kernel>> ConvBfloat16SwishKernel(PrepareContext& p,
                                                                const ConvGeometry& g,
                                                                const FusedOps& fused);

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_CONV_BFLOAT16_H_
