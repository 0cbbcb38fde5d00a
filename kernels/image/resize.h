// Resizes images, [batch, height, width, channels]. Attribute align_corners: the corner pixels'
// centers stay; half_pixel_centers: positions are those of the pixels' centers.
#ifndef TENON_KERNELS_IMAGE_RESIZE_H_
#define TENON_KERNELS_IMAGE_RESIZE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Inputs: images of real numbers, the output's height and width. Output: float.
absl::StatusOr<std::unique_ptr<Kernel>> ResizeBilinear(PrepareContext& p);
// With Keys' cubic kernel.
absl::StatusOr<std::unique_ptr<Kernel>> ResizeBicubic(PrepareContext& p);
// The mean of the area that an output pixel covers.
absl::StatusOr<std::unique_ptr<Kernel>> ResizeArea(PrepareContext& p);

// The same results from each input row's sums at the output's width, which neighboring rows share,
// by vector code and on all threads.
absl::StatusOr<std::unique_ptr<Kernel>> VectorResizeBicubic(PrepareContext& p);
absl::StatusOr<std::unique_ptr<Kernel>> VectorResizeArea(PrepareContext& p);

// The output has the images' dtype, which may be any of fixed size.
absl::StatusOr<std::unique_ptr<Kernel>> ResizeNearest(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_IMAGE_RESIZE_H_
