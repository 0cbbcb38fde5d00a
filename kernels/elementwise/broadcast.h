// Broadcasting several inputs to one output, with as few dimensions as possible.
#ifndef TENON_KERNELS_ELEMENTWISE_BROADCAST_H_
#define TENON_KERNELS_ELEMENTWISE_BROADCAST_H_

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "graph/shape.h"

namespace tenon {

// The output dimensions after dropping those of 1 and merging adjacent ones that every input
// traverses alike, with each input's stride in elements (0: repeated). At least one dimension.
struct CollapsedBroadcast {
  absl::InlinedVector<int64_t, 6> dims;
  std::vector<absl::InlinedVector<int64_t, 6>> strides;  // [input][dim]
};

// InvalidArgument if an input cannot be broadcast to `output`.
absl::StatusOr<CollapsedBroadcast> CollapseBroadcast(const std::vector<Shape>& inputs,
                                                     const Shape& output);

}  // namespace tenon

#endif  // TENON_KERNELS_ELEMENTWISE_BROADCAST_H_
