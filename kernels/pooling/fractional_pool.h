// Pooling over windows of different sizes, at random along the height and the width (Graham,
// "Fractional max-pooling"). A pooling sequence has each window's first position and, at the end,
// the input's size; with attribute overlapping, windows share their borders.
#ifndef TENON_KERNELS_POOLING_FRACTIONAL_POOL_H_
#define TENON_KERNELS_POOLING_FRACTIONAL_POOL_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// The sizes of the pooled NHWC image; -1 for unknown ones. InvalidArgument for a pooling_ratio that
// is below 1, above a size, or other than 1 for the batch or the channels.
absl::StatusOr<std::vector<int64_t>> FractionalPoolSizes(const AttrReader& attrs, const Shape& in);

// Input: the image. Outputs: the pooled image, the pooling sequences of rows and of columns. The
// largest element of a window that has no number above the dtype's lowest one is that number.
absl::StatusOr<std::unique_ptr<Kernel>> FractionalMaxPool(PrepareContext& p);
absl::StatusOr<std::unique_ptr<Kernel>> FractionalAvgPool(PrepareContext& p);

// Inputs: the forward op's input, output, the output's gradient, the two sequences. A window's
// gradient goes to its first largest element. InvalidArgument at Run for sequences that do not
// increase up to at most the input's size, and if the output is not the forward op's.
absl::StatusOr<std::unique_ptr<Kernel>> FractionalMaxPoolGrad(PrepareContext& p);
// Inputs: the shape of the forward op's input, the output's gradient, the two sequences.
absl::StatusOr<std::unique_ptr<Kernel>> FractionalAvgPoolGrad(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_POOLING_FRACTIONAL_POOL_H_
