// The Winograd kernel of convolutions, and where it is the fastest.
#ifndef TENON_KERNELS_CONVOLUTION_CONV_WINOGRAD_H_
#define TENON_KERNELS_CONVOLUTION_CONV_WINOGRAD_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/contraction/fused_ops.h"
#include "kernels/convolution/conv_geometry.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Whether the filter is a constant, so that its transform is made once, and flags allow it:
// TENON_STRICT_NAN does not, as an infinity or NaN reaches all of its tile.
bool MayUseWinograd(const PrepareContext& p);

// Inputs 0 and 1 are image and filter. Unimplemented where a direct convolution is as fast, and
// where the above says so. No dimension may be 0.
absl::StatusOr<std::unique_ptr<Kernel>> ConvWinogradKernel(PrepareContext& p, const ConvGeometry& g,
                                                           const FusedOps& fused);

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_CONV_WINOGRAD_H_
