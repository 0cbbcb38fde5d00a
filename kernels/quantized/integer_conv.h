// Quantized convolutions with own vector code: exact on every CPU.
#ifndef TENON_KERNELS_QUANTIZED_INTEGER_CONV_H_
#define TENON_KERNELS_QUANTIZED_INTEGER_CONV_H_

#include <memory>

#include "kernels/convolution/conv_geometry.h"
#include "kernels/quantized/quantized_fusion.h"

namespace tenon {

// A product of gathered windows and filters. Unimplemented for depthwise convolutions, and where
// PrepareIntegerProduct is.
absl::StatusOr<std::unique_ptr<Kernel>> IntegerConv(PrepareContext& p, const ConvGeometry& g,
                                                    const QuantizedFusion& fusion);

// Depthwise convolutions of two dimensions whose channels have one filter each; the same
// conditions otherwise.
absl::StatusOr<std::unique_ptr<Kernel>> IntegerDepthwiseConv(PrepareContext& p,
                                                             const ConvGeometry& g,
                                                             const QuantizedFusion& fusion);

}  // namespace tenon

#endif  // TENON_KERNELS_QUANTIZED_INTEGER_CONV_H_
