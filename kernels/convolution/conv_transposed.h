// Computes a transposed convolution (the gradient of a convolution with respect to its image) with
// strides as one product of matrices for each phase: the pixels of the output whose positions have
// the same remainders modulo the strides are a convolution without strides, with the part of the
// filter that reaches them.
#ifndef TENON_KERNELS_CONVOLUTION_CONV_TRANSPOSED_H_
#define TENON_KERNELS_CONVOLUTION_CONV_TRANSPOSED_H_

#include <memory>

#include "kernels/convolution/conv_geometry.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// `g` is the geometry of the convolution, whose output is input 2; input 1 is its filter [H, W, I,
// O]. Unimplemented if the filter is not constant, grouped, dilated or has a side below its stride;
// if the image is not float with channels last, or oneDNN is as fast.
absl::StatusOr<std::unique_ptr<Kernel>> ConvTransposedKernel(PrepareContext& p,
                                                             const ConvGeometry& g);

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_CONV_TRANSPOSED_H_
