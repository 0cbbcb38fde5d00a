// Depthwise convolutions of doubles and their gradients, channels last, as sums of products of rows
// of channels in vector code. (oneDNN has none.)
#ifndef TENON_KERNELS_CONVOLUTION_DEPTHWISE_DOUBLES_H_
#define TENON_KERNELS_CONVOLUTION_DEPTHWISE_DOUBLES_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/convolution/conv_geometry.h"
#include "kernels/interface/kernel.h"

namespace tenon {

enum class DepthwisePass { kForward, kInputGradient, kFilterGradient };

// The image is input 0, the filter input 1, the gradient of the output input 2; a pass reads two of
// them. Unimplemented for other dtypes and channels first.
absl::StatusOr<std::unique_ptr<Kernel>> DepthwiseOfDoubles(PrepareContext& p, const ConvGeometry& g,
                                                           DepthwisePass pass);

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_DEPTHWISE_DOUBLES_H_
