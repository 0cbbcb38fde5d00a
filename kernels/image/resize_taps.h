// The input pixels and weights from which a pixel of a resized image is computed, along one axis:
// shared by the Resize ops and their gradients.
#ifndef TENON_KERNELS_IMAGE_RESIZE_TAPS_H_
#define TENON_KERNELS_IMAGE_RESIZE_TAPS_H_

#include <cstdint>
#include <vector>

#include "kernels/interface/kernel.h"
#include "kernels/interface/types.h"

namespace tenon {

// The dtypes of images.
using ImageNumbers = Joined<Floats, TypeList<int8_t, uint8_t, int16_t, uint16_t, int32_t, int64_t>>;

// How positions of the output map to positions of the input, along one axis.
struct ResizeAxis {
  int64_t in;
  int64_t out;
  bool align_corners;
  bool half_pixel_centers;

  float Scale() const;
};
// Dimension i, between input 0 and output 0 of a Resize op.
ResizeAxis AxisOf(PrepareContext& p, int i);

struct BilinearTap {
  int64_t lower;
  int64_t upper;
  float weight;  // of upper
};
std::vector<BilinearTap> BilinearTaps(const ResizeAxis& axis);

std::vector<int64_t> NearestTaps(const ResizeAxis& axis);

// The input pixels and weights of one output position along an axis.
struct ResizeWeights {
  std::vector<int64_t> at;
  std::vector<float> weight;
};

// Four taps of a cubic kernel, from a table of 1024 steps: Keys' kernel (a = -0.5) with half pixel
// centers, where taps outside the image have no weight; otherwise a = -0.75 with the border
// repeated.
std::vector<ResizeWeights> BicubicWeights(const ResizeAxis& axis);
// The fraction of each pixel that an output pixel covers.
std::vector<ResizeWeights> AreaWeights(const ResizeAxis& axis);

}  // namespace tenon

#endif  // TENON_KERNELS_IMAGE_RESIZE_TAPS_H_
