// The sums of normalizations and their gradients over all axes except the channels, which are
// adjacent axes, from attribute begin up to end.
#ifndef TENON_KERNELS_NORMALIZATION_CHANNEL_SUMS_H_
#define TENON_KERNELS_NORMALIZATION_CHANNEL_SUMS_H_

#include <memory>

#include "absl/status/statusor.h"
#include "graph/attr_reader.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Axes [begin, end).
struct ChannelAxes {
  int begin = 0, end = 0;
};
// Reads the attributes; InvalidArgument if they are not axes of a tensor with that rank.
absl::StatusOr<ChannelAxes> ChannelAxesOf(const AttrReader& attrs, int rank);

// mean(x) and mean((x - mean(x))^2) of input 0. Floating dtypes.
absl::StatusOr<std::unique_ptr<Kernel>> ChannelMomentsReference(PrepareContext& p);
// float.
absl::StatusOr<std::unique_ptr<Kernel>> ChannelMomentsVector(PrepareContext& p);

// sum(g) and sum(g * x). Inputs: a gradient, x, features. Attribute activation: with Identity, g is
// the gradient and features are not read; with Relu or Relu6, g is the gradient of that op with the
// result features. InvalidArgument for another activation. Floating-point dtypes.
absl::StatusOr<std::unique_ptr<Kernel>> ChannelGradientSumsReference(PrepareContext& p);
// float.
absl::StatusOr<std::unique_ptr<Kernel>> ChannelGradientSumsVector(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_NORMALIZATION_CHANNEL_SUMS_H_
