// MaxPool over channels instead of positions: the largest of each group of consecutive channels.
#ifndef TENON_KERNELS_POOLING_DEPTH_POOL_H_
#define TENON_KERNELS_POOLING_DEPTH_POOL_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "graph/attr_reader.h"
#include "graph/tensor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// The channels that the window of a MaxPool covers; 1 if it covers positions, as it mostly does, or
// nothing that makes sense. ksize and strides: those of MaxPoolV2, otherwise null. As TensorFlow's,
// a window over channels is as large as its stride, covers a single position, and is not padded
// explicitly: InvalidArgument otherwise.
absl::StatusOr<int64_t> DepthWindow(const AttrReader& attrs, const Tensor* ksize,
                                    const Tensor* strides);

// Input: [..., channels]; output: [..., channels / window].
absl::StatusOr<std::unique_ptr<Kernel>> DepthPoolKernel(PrepareContext& p, int64_t window);

}  // namespace tenon

#endif  // TENON_KERNELS_POOLING_DEPTH_POOL_H_
