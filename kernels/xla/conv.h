// XLA's general convolution: any number of spatial dimensions in any layout, windows with strides,
// borders (also negative) and gaps in both operands, groups of features or of images.
#ifndef TENON_KERNELS_XLA_CONV_H_
#define TENON_KERNELS_XLA_CONV_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"
#include "kernels/xla/dimension_numbers.h"

namespace tenon {

// One spatial dimension of the window.
struct ConvWindow {
  int64_t stride = 1, low = 0, high = 0, lhs_dilation = 1, rhs_dilation = 1;

  // The number of positions of a window of `kernel` elements; -1 if a size is unknown (-1).
  absl::StatusOr<int64_t> Positions(int64_t size, int64_t kernel) const;
};

struct ConvSpec {
  ConvNumbers numbers;
  std::vector<ConvWindow> windows;
  int64_t feature_groups = 1, batch_groups = 1;
};

// The inputs window_strides, padding, lhs_dilation, rhs_dilation and feature_group_count, which
// begin at `values`, as they are known, with the attributes.
absl::StatusOr<ConvSpec> MakeConvSpec(const AttrReader& attrs, const Tensor* const (&values)[5]);

// The shape of the result. The operands' ranks must be known.
absl::StatusOr<Shape> ConvOutput(const ConvSpec& spec, const Shape& lhs, const Shape& rhs);

// Inputs: lhs, rhs, and the five above. Any numbers; sums are accumulated in the output's type.
absl::StatusOr<std::unique_ptr<Kernel>> XlaConvKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_XLA_CONV_H_
