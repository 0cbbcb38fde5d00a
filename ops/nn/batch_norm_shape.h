// Shared by the shape functions of batch norms and their gradients.
#ifndef TENON_OPS_NN_BATCH_NORM_SHAPE_H_
#define TENON_OPS_NN_BATCH_NORM_SHAPE_H_

#include "absl/status/statusor.h"
#include "ops/shape_fn.h"

namespace tenon {

// Checks the rank; returns the number of channels (-1: not known).
absl::StatusOr<int64_t> BatchNormChannels(ShapeContext& c, int x);

// InvalidArgument unless input i is a vector of `channels`, which is set if it was -1.
absl::Status ExpectPerChannel(ShapeContext& c, int i, int64_t& channels);

}  // namespace tenon

#endif  // TENON_OPS_NN_BATCH_NORM_SHAPE_H_
