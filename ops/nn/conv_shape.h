// Shape functions of the convolutions and their gradients.
#ifndef TENON_OPS_NN_CONV_SHAPE_H_
#define TENON_OPS_NN_CONV_SHAPE_H_

#include "kernels/convolution/conv_geometry.h"
#include "kernels/convolution/conv_gradient.h"
#include "ops/shape_fn.h"

namespace tenon {

absl::Status ConvShape(ShapeContext& c, int spatial, ConvKind kind);

// Inputs: input sizes, filter, out_backprop.
absl::Status ConvInputGradientShape(ShapeContext& c, const ConvGradientOp& op);

// Inputs: input, filter sizes, out_backprop. A second output is the bias gradient.
absl::Status ConvFilterGradientShape(ShapeContext& c, const ConvGradientOp& op);

// The kernels and the shape function for a gradient's row.
template <ConvGradientOp kOp>
struct ConvInputGradientRow : ConvInputGradient<kOp> {
  static absl::Status Shape(ShapeContext& c) { return ConvInputGradientShape(c, kOp); }
};
template <ConvGradientOp kOp>
struct ConvFilterGradientRow : ConvFilterGradient<kOp> {
  static absl::Status Shape(ShapeContext& c) { return ConvFilterGradientShape(c, kOp); }
};

}  // namespace tenon

#endif  // TENON_OPS_NN_CONV_SHAPE_H_
