// The positions of a cropped box's pixels in its image: shared by CropAndResize and its gradients.
#ifndef TENON_KERNELS_IMAGE_CROP_H_
#define TENON_KERNELS_IMAGE_CROP_H_

#include <cstdint>

namespace tenon {

// Position i of `crop` positions between two fractions of an axis of `size` pixels.
inline float CropPosition(float from, float to, int64_t i, int64_t crop, int64_t size) {
  const float last = static_cast<float>(size - 1);
  if (crop <= 1) return 0.5f * (from + to) * last;
  const float scale = (to - from) * last / static_cast<float>(crop - 1);
  return from * last + static_cast<float>(i) * scale;
}

}  // namespace tenon

#endif  // TENON_KERNELS_IMAGE_CROP_H_
