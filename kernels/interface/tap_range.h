// Which taps of a window lie in the image, along one dimension.
#ifndef TENON_KERNELS_INTERFACE_TAP_RANGE_H_
#define TENON_KERNELS_INTERFACE_TAP_RANGE_H_

#include <algorithm>
#include <cstdint>

#include "env/round_up.h"

namespace tenon {

// The taps [first, last) of a window.
struct TapRange {
  int64_t first, last;
};

// Those of `window` taps, at origin, origin + dilation, and so on, that lie in [0, in).
inline TapRange TapsInside(int64_t origin, int64_t in, int64_t window, int64_t dilation) {
  if (origin >= 0 && origin + (window - 1) * dilation < in) return {0, window};  // most of them
  const int64_t first = std::min(CeilDiv(std::max<int64_t>(-origin, 0), dilation), window);
  const int64_t end = CeilDiv(std::max<int64_t>(in - origin, 0), dilation);
  return {first, std::clamp(end, first, window)};
}

}  // namespace tenon

#endif  // TENON_KERNELS_INTERFACE_TAP_RANGE_H_
