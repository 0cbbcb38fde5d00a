// Gradients of the convolutions, of their input and of their filter: shape functions and kernels
// that the rows of the …Backprop… ops share.
#ifndef TENON_OPS_NN_CONV_GRADIENT_H_
#define TENON_OPS_NN_CONV_GRADIENT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "ops/kernel.h"
#include "ops/nn/conv_geometry.h"
#include "ops/shape_fn.h"

namespace tenon {

struct ConvGradientOp {
  int spatial = 2;
  ConvKind kind = ConvKind::kDense;
  // How the gradient's own shape is told: by a vector of sizes, or by a tensor that has it.
  enum class Sizes { kVector, kTensor } sizes = Sizes::kVector;
};

// Inputs: input sizes, filter, out_backprop.
absl::Status ConvInputGradientShape(ShapeContext& c, const ConvGradientOp& op);
absl::StatusOr<std::unique_ptr<Kernel>> ConvInputGradientReference(PrepareContext& p,
                                                                   const ConvGradientOp& op);
absl::StatusOr<std::unique_ptr<Kernel>> ConvInputGradientOnednn(PrepareContext& p,
                                                                const ConvGradientOp& op);

// Inputs: input, filter sizes, out_backprop. A second output is the bias' gradient.
absl::Status ConvFilterGradientShape(ShapeContext& c, const ConvGradientOp& op);
absl::StatusOr<std::unique_ptr<Kernel>> ConvFilterGradientReference(PrepareContext& p,
                                                                    const ConvGradientOp& op);
absl::StatusOr<std::unique_ptr<Kernel>> ConvFilterGradientOnednn(PrepareContext& p,
                                                                 const ConvGradientOp& op);

// The above as the functions that an op row takes, for one op.
template <ConvGradientOp kOp>
struct ConvInputGradient {
  static absl::Status Shape(ShapeContext& c) { return ConvInputGradientShape(c, kOp); }
  static absl::StatusOr<std::unique_ptr<Kernel>> Reference(PrepareContext& p);
  static absl::StatusOr<std::unique_ptr<Kernel>> Onednn(PrepareContext& p);
};
template <ConvGradientOp kOp>
struct ConvFilterGradient {
  static absl::Status Shape(ShapeContext& c) { return ConvFilterGradientShape(c, kOp); }
  static absl::StatusOr<std::unique_ptr<Kernel>> Reference(PrepareContext& p);
  static absl::StatusOr<std::unique_ptr<Kernel>> Onednn(PrepareContext& p);
};

// `prepare`, or a kernel that prepares it at Run where the sizes (input `sizes`) are not known yet.
using PrepareConvGradient = absl::StatusOr<std::unique_ptr<Kernel>> (*)(PrepareContext&,
                                                                        const ConvGradientOp&);
absl::StatusOr<std::unique_ptr<Kernel>> WithSizes(PrepareContext& p, const ConvGradientOp& op,
                                                  int sizes, PrepareConvGradient prepare,
                                                  KernelFactory again);

template <ConvGradientOp kOp>
absl::StatusOr<std::unique_ptr<Kernel>> ConvInputGradient<kOp>::Reference(PrepareContext& p) {
  return WithSizes(p, kOp, 0, ConvInputGradientReference, Reference);
}
template <ConvGradientOp kOp>
absl::StatusOr<std::unique_ptr<Kernel>> ConvInputGradient<kOp>::Onednn(PrepareContext& p) {
  return WithSizes(p, kOp, 0, ConvInputGradientOnednn, Onednn);
}
template <ConvGradientOp kOp>
absl::StatusOr<std::unique_ptr<Kernel>> ConvFilterGradient<kOp>::Reference(PrepareContext& p) {
  return WithSizes(p, kOp, 1, ConvFilterGradientReference, Reference);
}
template <ConvGradientOp kOp>
absl::StatusOr<std::unique_ptr<Kernel>> ConvFilterGradient<kOp>::Onednn(PrepareContext& p) {
  return WithSizes(p, kOp, 1, ConvFilterGradientOnednn, Onednn);
}

}  // namespace tenon

#endif  // TENON_OPS_NN_CONV_GRADIENT_H_
