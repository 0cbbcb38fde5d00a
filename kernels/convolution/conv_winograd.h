// The Winograd kernel of convolutions, and the rule for when it is the fastest.
#ifndef TENON_KERNELS_CONVOLUTION_CONV_WINOGRAD_H_
#define TENON_KERNELS_CONVOLUTION_CONV_WINOGRAD_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/contraction/fused_ops.h"
#include "kernels/convolution/conv_geometry.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Whether the filter is a constant, so that it is transformed only once, and flags allow it.
// (TENON_STRICT_NAN does not, because an infinity or NaN spreads over its whole tile.)
bool MayUseWinograd(const PrepareContext& p);

// Inputs 0 and 1 are image and filter. Unimplemented if a direct convolution is as fast, or the
// function above returns false. No dimension may be 0.
absl::StatusOr<std::unique_ptr<Kernel>> ConvWinogradKernel(PrepareContext& p, const ConvGeometry& g,
                                                           const FusedOps& fused);

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_CONV_WINOGRAD_H_
