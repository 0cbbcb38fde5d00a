// Computes a convolution whose windows are long lines of few channels, as the first layers of
// networks for signals have (EEG, sound): what a line of the window covers is adjacent in the
// image, so each line is one matrix product, whose rows overlap.
#ifndef TENON_KERNELS_CONVOLUTION_CONV_LINES_H_
#define TENON_KERNELS_CONVOLUTION_CONV_LINES_H_

#include <memory>

#include "kernels/contraction/fused_ops.h"
#include "kernels/convolution/conv_geometry.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Input 0 is a float image [N, H, W, C], input 1 a constant filter. Unimplemented for others, for
// groups and windows dilated along their lines, and where oneDNN's kernels are faster.
absl::StatusOr<std::unique_ptr<Kernel>> ConvLinesKernel(PrepareContext& p, const ConvGeometry& g,
                                                        const FusedOps& fused);

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_CONV_LINES_H_
