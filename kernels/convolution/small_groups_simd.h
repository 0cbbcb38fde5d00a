// Sums of a convolution whose groups have 2 or 4 channels.
#ifndef TENON_KERNELS_CONVOLUTION_SMALL_GROUPS_SIMD_H_
#define TENON_KERNELS_CONVOLUTION_SMALL_GROUPS_SIMD_H_

#include <cstddef>

namespace tenon {

// A tap of the window: where its pixel is for the first output, and its part of the filter.
struct GroupTap {
  size_t image, filter;  // floats
};

// out[p, c] = the sum over all taps and over the channels j of c's group, of which there are
// `group`, of image[tap.image + p * image_step + first channel of the group + j] times
// filter[c / lanes * filter_panel + (tap.filter + j) * lanes + c % lanes], for adjacent pixels p
// and `channels` channels. The filter's panels are filled up.
struct SmallGroups {
  const float* image = nullptr;
  size_t image_step = 0;
  const GroupTap* taps = nullptr;
  size_t num_taps = 0;
  const float* filter = nullptr;
  size_t filter_panel = 0;
  size_t pixels = 0, channels = 0, group = 0;
  float* out = nullptr;  // dense
};
using SmallGroupsFn = void (*)(const SmallGroups&);

struct SmallGroupsLoops {
  SmallGroupsFn compute = nullptr;
  size_t lanes = 0;  // of a panel of the filter
};
SmallGroupsLoops FindSmallGroupsLoops();
// Whether they compute groups of so many channels.
constexpr bool IsSmallGroup(size_t channels) { return channels == 2 || channels == 4; }

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_SMALL_GROUPS_SIMD_H_
