// Normalizes each channel of each 8-bit image [N, H, W, C] to mean 0 and variance 1.
#ifndef TENON_KERNELS_QUANTIZED_INSTANCE_NORM_H_
#define TENON_KERNELS_QUANTIZED_INSTANCE_NORM_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"
#include "kernels/quantized/range_inputs.h"

namespace tenon {

// The range of the result (if it is given), the epsilon added to the variance, and the smallest
// span of the range.
struct InstanceNormAttrs {
  bool range_given = false;
  FloatRange given;
  float epsilon = 1e-5f;
  float separation = 1e-3f;
};

// InvalidArgument for a given range that is empty.
absl::StatusOr<InstanceNormAttrs> ReadInstanceNormAttrs(const AttrReader& attrs);

// quint8 with the range in inputs 1 and 2, to quint8 with the range of the result, or the given
// one. InvalidArgument for an empty range.
absl::StatusOr<std::unique_ptr<Kernel>> QuantizedInstanceNormKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_QUANTIZED_INSTANCE_NORM_H_
