// Max pools that also output the flat index of each window's first largest element in its image ((y
// * width + x) * channels + channel), or with attribute include_batch_in_index in the batch, and
// the gradients that read it. Real numbers; indices int32 or int64.
#ifndef TENON_KERNELS_POOLING_MAX_POOL_ARGMAX_H_
#define TENON_KERNELS_POOLING_MAX_POOL_ARGMAX_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/convolution/conv_geometry.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// The window attributes, as TensorFlow's kernel takes them: strides over channels do not count, and
// windows over channels alone leave each number as it is. InvalidArgument for windows over channels
// and pixels, and for those that differ from their strides or do not divide the channels.
absl::StatusOr<WindowAttrs> ArgmaxPoolAttrs(const AttrReader& attrs, int64_t channels);

// Input: images [batch, height, width, channels]. Outputs: the pool, argmax.
absl::StatusOr<std::unique_ptr<Kernel>> MaxPoolArgmaxReference(PrepareContext& p);

// Inputs: images, the pool's gradient, argmax. InvalidArgument at Run for an index out of range.
absl::StatusOr<std::unique_ptr<Kernel>> MaxPoolArgmaxGrad(PrepareContext& p);

// The gradient of MaxPoolArgmaxGrad: inputs are images, its gradient, argmax.
absl::StatusOr<std::unique_ptr<Kernel>> MaxPoolArgmaxGradGrad(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_POOLING_MAX_POOL_ARGMAX_H_
