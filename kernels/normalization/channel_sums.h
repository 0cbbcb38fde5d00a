// What normalizations and their gradients sum over all axes but the channels: neighbouring axes,
// from attribute begin up to end.
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
// By attributes; InvalidArgument where they are not axes of a tensor of that rank.
absl::StatusOr<ChannelAxes> ChannelAxesOf(const AttrReader& attrs, int rank);

// mean(x) and mean((x - mean(x))^2) of input 0. Floating dtypes.
absl::StatusOr<std::unique_ptr<Kernel>> ChannelMomentsReference(PrepareContext& p);
// float.
absl::StatusOr<std::unique_ptr<Kernel>> ChannelMomentsVector(PrepareContext& p);

// sum(g) and sum(g * x). Inputs: a gradient, x, features. Attribute activation: Identity, where g
// is the gradient and features are not read; Relu or Relu6, where it is the gradient of that op
// with result features. InvalidArgument on another activation. Floating dtypes.
absl::StatusOr<std::unique_ptr<Kernel>> ChannelGradientSumsReference(PrepareContext& p);
// float.
absl::StatusOr<std::unique_ptr<Kernel>> ChannelGradientSumsVector(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_NORMALIZATION_CHANNEL_SUMS_H_
