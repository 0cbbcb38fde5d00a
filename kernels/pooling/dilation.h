// Grayscale dilation of images, [batch, height, width, channels]: the largest sum of image and
// filter, [rows, columns, channels], in each window. Its gradients go to the first largest
// elements.
#ifndef TENON_KERNELS_POOLING_DILATION_H_
#define TENON_KERNELS_POOLING_DILATION_H_

#include <array>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "graph/attr_reader.h"
#include "graph/shape.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// One spatial dimension.
struct DilationAxis {
  int64_t in = 0, filter = 0, out = 0;
  int64_t stride = 1, rate = 1, pad = 0;

  // The position of tap k of window o; outside [0, in): in the padding.
  int64_t at(int64_t o, int64_t k) const { return o * stride - pad + k * rate; }
};

struct DilationGeometry {
  int64_t batch = 0, channels = 0;
  std::array<DilationAxis, 2> axes;
};

// From the attributes strides, rates and padding. `in` and `filter` have known ranks; sizes are -1
// if unknown, and then out is -1 too. InvalidArgument for sizes that do not match.
absl::StatusOr<DilationGeometry> DilationGeometryOf(const AttrReader& attrs, const Shape& in,
                                                    const Shape& filter);

// The result of a kernel: the dilation, or the gradient of its input or filter.
enum class DilationResult { kOutput, kInput, kFilter };

// Inputs: images, the filter and, for gradients, the output's gradient. Real numbers.
absl::StatusOr<std::unique_ptr<Kernel>> Dilation(PrepareContext& p, DilationResult result);

// The dilation of floats by vector code, on all threads; Unimplemented for other dtypes.
absl::StatusOr<std::unique_ptr<Kernel>> VectorDilation(PrepareContext& p);

// Dilation as a kernel factory.
template <DilationResult kResult>
absl::StatusOr<std::unique_ptr<Kernel>> Dilation(PrepareContext& p) {
  return Dilation(p, kResult);
}

}  // namespace tenon

#endif  // TENON_KERNELS_POOLING_DILATION_H_
