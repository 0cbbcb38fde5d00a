// How the reference convolutions and their gradients iterate over images and windows.
#ifndef TENON_KERNELS_CONVOLUTION_IMAGE_POSITIONS_H_
#define TENON_KERNELS_CONVOLUTION_IMAGE_POSITIONS_H_

#include <cstdint>

#include "kernels/convolution/conv_geometry.h"

namespace tenon {

inline int64_t ProductOf(const Dims& dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

// The input position at window position `w` of output position `o`; -1 in the padding. `o` and `w`
// are row-major indices over the spatial dimensions.
inline int64_t InputPosition(const ConvGeometry& g, int64_t o, int64_t w) {
  int64_t position = 0, scale = 1;
  for (size_t d = g.in.size(); d-- > 0;) {
    const int64_t x = o % g.out[d] * g.attrs.strides[d] + w % g.window[d] * g.attrs.dilations[d] -
                      g.pads_begin[d];
    if (x < 0 || x >= g.in[d]) return -1;
    position += x * scale;
    scale *= g.in[d];
    o /= g.out[d];
    w /= g.window[d];
  }
  return position;
}

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_IMAGE_POSITIONS_H_
