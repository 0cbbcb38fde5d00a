// Gradients of convolutions with respect to their input and their filter: kernels that the rows of
// the …Backprop… ops share.
#ifndef TENON_KERNELS_CONVOLUTION_CONV_GRADIENT_H_
#define TENON_KERNELS_CONVOLUTION_CONV_GRADIENT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/convolution/conv_geometry.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Input 2 of every gradient.
inline constexpr int kOutBackprop = 2;

struct ConvGradientOp {
  int spatial = 2;
  ConvKind kind = ConvKind::kDense;
  // How the gradient's shape is given: by a vector of sizes, or by a tensor that has it.
  enum class Sizes { kVector, kTensor } sizes = Sizes::kVector;
};

// Inputs: input sizes, filter, out_backprop.
absl::StatusOr<std::unique_ptr<Kernel>> ConvInputGradientReference(PrepareContext& p,
                                                                   const ConvGradientOp& op);
absl::StatusOr<std::unique_ptr<Kernel>> ConvInputGradientOnednn(PrepareContext& p,
                                                                const ConvGradientOp& op);

// Inputs: input, filter sizes, out_backprop. A second output is the bias gradient.
absl::StatusOr<std::unique_ptr<Kernel>> ConvFilterGradientReference(PrepareContext& p,
                                                                    const ConvGradientOp& op);
absl::StatusOr<std::unique_ptr<Kernel>> ConvFilterGradientOnednn(PrepareContext& p,
                                                                 const ConvGradientOp& op);

// InvalidArgument unless `out_backprop` has the shape of the convolution's output.
absl::Status CheckOutBackprop(const WindowAttrs& a, ConvKind kind, const Shape& input,
                              const Shape& filter, const Shape& out_backprop);

// The kernels above as factories, for one op.
template <ConvGradientOp kOp>
struct ConvInputGradient {
  static absl::StatusOr<std::unique_ptr<Kernel>> Reference(PrepareContext& p);
  static absl::StatusOr<std::unique_ptr<Kernel>> Onednn(PrepareContext& p);
};
template <ConvGradientOp kOp>
struct ConvFilterGradient {
  static absl::StatusOr<std::unique_ptr<Kernel>> Reference(PrepareContext& p);
  static absl::StatusOr<std::unique_ptr<Kernel>> Onednn(PrepareContext& p);
};

// Calls `prepare`, or returns a kernel that does so at Run if the sizes (input `sizes`) are not
// known yet.
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

#endif  // TENON_KERNELS_CONVOLUTION_CONV_GRADIENT_H_
