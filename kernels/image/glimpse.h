// Extracts a window of each image, [batch, height, width, channels], around an offset. Parts
// outside the image are filled with noise that resembles the image, or zeros.
#ifndef TENON_KERNELS_IMAGE_GLIMPSE_H_
#define TENON_KERNELS_IMAGE_GLIMPSE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"
#include "kernels/interface/late_kernel.h"

namespace tenon {

// The reference point of offsets that are not both normalized and centered.
enum class GlimpseOffset { kMiddle, kCorner };

// Inputs, float: images, the window's size (int32), offsets [batch, 2]. InvalidArgument for an
// unknown kind of noise. The output's shape must be complete.
absl::StatusOr<std::unique_ptr<Kernel>> Glimpse(PrepareContext& p, GlimpseOffset of);

// Glimpse as a kernel factory; a size that is not known in Prepare is read at Run.
template <GlimpseOffset kOf>
absl::StatusOr<std::unique_ptr<Kernel>> Glimpse(PrepareContext& p) {
  return p.output_shape(0).IsComplete() ? Glimpse(p, kOf) : PrepareLate(p, Glimpse<kOf>, {1});
}

}  // namespace tenon

#endif  // TENON_KERNELS_IMAGE_GLIMPSE_H_
