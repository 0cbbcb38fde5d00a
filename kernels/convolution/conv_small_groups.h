// Computes a convolution whose groups have 2 or 4 channels, as in the first blocks of a ResNeXt.
// oneDNN computes vectors of channels of one group, or with AVX2 goes to its gemm convolution.
#ifndef TENON_KERNELS_CONVOLUTION_CONV_SMALL_GROUPS_H_
#define TENON_KERNELS_CONVOLUTION_CONV_SMALL_GROUPS_H_

#include <memory>

#include "kernels/contraction/fused_ops.h"
#include "kernels/convolution/conv_geometry.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Input 0 is a float image [N, H, W, C], input 1 a constant filter. Unimplemented for others, and
// if a group has another number of inputs or outputs, or more of one than of the other.
absl::StatusOr<std::unique_ptr<Kernel>> ConvSmallGroupsKernel(PrepareContext& p,
                                                              const ConvGeometry& g,
                                                              const FusedOps& fused);

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_CONV_SMALL_GROUPS_H_
