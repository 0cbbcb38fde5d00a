// Shape functions of quantized convolutions and matrix products.
#ifndef TENON_OPS_QUANT_CONTRACTION_SHAPE_H_
#define TENON_OPS_QUANT_CONTRACTION_SHAPE_H_

#include "kernels/convolution/conv_geometry.h"
#include "kernels/quantized/quantized_fusion.h"
#include "ops/shape_fn.h"

namespace tenon {

// Checks bias, summand and ranges against the result's shape, whose last dimension is the channels,
// and sets the outputs.
absl::Status QuantizedFusionShape(ShapeContext& c, const QuantizedFusion& fusion, Shape result);

absl::Status QuantizedConvShape(ShapeContext& c, ConvKind kind, const QuantizedFusion& fusion);

absl::Status QuantizedMatMulShape(ShapeContext& c, const QuantizedFusion& fusion);
absl::Status UnsignedMatMulShape(ShapeContext& c);

}  // namespace tenon

#endif  // TENON_OPS_QUANT_CONTRACTION_SHAPE_H_
