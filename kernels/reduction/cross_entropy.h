// The cross entropy of softmax(features) and labels, and its gradient: for each row
//
//   loss = sum(labels * (log(sum(exp(features))) - features)), backprop = softmax(features) -
//   labels
//
// where labels whose dtype differs from the features' are class indices.
#ifndef TENON_KERNELS_REDUCTION_CROSS_ENTROPY_H_
#define TENON_KERNELS_REDUCTION_CROSS_ENTROPY_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Inputs: features and labels that broadcast together to [batch, classes], or class indices
// [batch], int32 or int64. Outputs: loss [batch], backprop. InvalidArgument at Run for a class
// index out of range. Floating-point dtypes.
absl::StatusOr<std::unique_ptr<Kernel>> CrossEntropyReference(PrepareContext& p);
// float and bfloat16.
absl::StatusOr<std::unique_ptr<Kernel>> CrossEntropyVector(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_REDUCTION_CROSS_ENTROPY_H_
