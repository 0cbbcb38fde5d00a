// The positions of a cropped box's pixels in its image: shared by CropAndResize and its gradients.
#ifndef TENON_KERNELS_IMAGE_CROP_H_
#define TENON_KERNELS_IMAGE_CROP_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace tenon {

// The position along an axis that a crop's pixel is sampled from.
struct CropPlace {
  bool inside = false;  // the image; otherwise the rest is 0
  float at = 0;
  int64_t lower = 0, upper = 0;
  float fraction = 0;  // of upper

  int64_t nearest() const { return static_cast<int64_t>(std::round(at)); }
};

// Of position i of `crop` positions between two fractions of an axis of `size` pixels.
inline CropPlace CropPlaceOf(float from, float to, int64_t i, int64_t crop, int64_t size) {
  const float last = static_cast<float>(size - 1);
  float at = 0.5f * (from + to) * last;
  if (crop > 1) {
    const float scale = (to - from) * last / static_cast<float>(crop - 1);
    at = from * last + static_cast<float>(i) * scale;
  }
  if (!(at >= 0 && at <= last)) return {};
  const auto lower = static_cast<int64_t>(std::floor(at));
  const auto upper = std::min(static_cast<int64_t>(std::ceil(at)), size - 1);
  return {true, at, lower, upper, at - static_cast<float>(lower)};
}

inline std::vector<CropPlace> CropPlacesOf(float from, float to, int64_t crop, int64_t size) {
  std::vector<CropPlace> places;
  for (int64_t i = 0; i < crop; ++i) places.push_back(CropPlaceOf(from, to, i, crop, size));
  return places;
}

}  // namespace tenon

#endif  // TENON_KERNELS_IMAGE_CROP_H_
