// Computes a convolution with large filters that may change from run to run (eager calls, training)
// as a matrix product: packing such filters for a convolution takes as long as the sums over a few
// pixels.
#ifndef TENON_KERNELS_CONVOLUTION_CONV_PRODUCT_H_
#define TENON_KERNELS_CONVOLUTION_CONV_PRODUCT_H_

#include <memory>

#include "kernels/contraction/fused_ops.h"
#include "kernels/convolution/conv_geometry.h"

namespace tenon {

// Unimplemented if the filter is constant, small or grouped, there are many pixels, the image is
// not float with channels last, or anything is fused.
absl::StatusOr<std::unique_ptr<Kernel>> ConvProductKernel(PrepareContext& p, const ConvGeometry& g,
                                                          const FusedOps& fused);

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_CONV_PRODUCT_H_
