// Quantized convolutions over images, channels last: dense and depthwise, with everything in a
// QuantizedFusion.
#ifndef TENON_KERNELS_QUANTIZED_QUANTIZED_CONV_H_
#define TENON_KERNELS_QUANTIZED_QUANTIZED_CONV_H_

#include <memory>

#include "kernels/convolution/conv_geometry.h"
#include "kernels/quantized/quantized_fusion.h"

namespace tenon {

// The node with padding_list, if given, as its explicit_paddings.
Node WithExplicitPadding(const Node& node);

absl::StatusOr<std::unique_ptr<Kernel>> QuantizedConvReference(PrepareContext& p, ConvKind kind,
                                                               const QuantizedFusion& fusion);
absl::StatusOr<std::unique_ptr<Kernel>> QuantizedConvOnednn(PrepareContext& p, ConvKind kind,
                                                            const QuantizedFusion& fusion);

}  // namespace tenon

#endif  // TENON_KERNELS_QUANTIZED_QUANTIZED_CONV_H_
