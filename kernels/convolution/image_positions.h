// How the reference convolutions and their gradients iterate over images and windows.
#ifndef TENON_KERNELS_CONVOLUTION_IMAGE_POSITIONS_H_
#define TENON_KERNELS_CONVOLUTION_IMAGE_POSITIONS_H_

#include <array>
#include <cstdint>

#include "kernels/convolution/conv_geometry.h"

namespace tenon {

inline int64_t ProductOf(const Dims& dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

// Converts n channels that are `step` elements apart.
template <typename T, typename C>
void CopyChannels(const T* from, int64_t step, int64_t n, C* to) {
  if (step == 1) {
    for (int64_t c = 0; c < n; ++c) to[c] = static_cast<C>(from[c]);
  } else {
    for (int64_t c = 0; c < n; ++c) to[c] = static_cast<C>(from[c * step]);
  }
}

// Calls f(i, position) for the `count` indexes of a row-major space of `sizes` from `first` on: at
// index x of a dimension, the input's coordinate is start + x * step. The position is -1 in the
// padding.
template <typename F>
void ForPositions(const ConvGeometry& g, const Dims& sizes, const Dims& start, const Dims& step,
                  int64_t first, int64_t count, F f) {
  struct Dim {
    int64_t size, index, in, x, step;
  };
  std::array<Dim, 3> dims;
  const size_t rank = g.in.size();
  for (size_t d = rank; d-- > 0; first /= sizes[d]) {
    const int64_t index = first % sizes[d];
    dims[d] = {sizes[d], index, g.in[d], start[d] + index * step[d], step[d]};
  }
  for (int64_t i = 0; i < count; ++i) {
    int64_t position = 0;
    bool inside = true;
    for (size_t d = 0; d < rank; ++d) {
      inside = inside && dims[d].x >= 0 && dims[d].x < dims[d].in;
      position = position * dims[d].in + dims[d].x;
    }
    f(i, inside ? position : -1);
    for (size_t d = rank; d-- > 0;) {
      dims[d].x += dims[d].step;
      if (++dims[d].index < dims[d].size) break;
      dims[d].x -= dims[d].size * dims[d].step;
      dims[d].index = 0;
    }
  }
}

// Calls f(w, position) for the window positions of output position `o`.
template <typename F>
void ForWindow(const ConvGeometry& g, int64_t o, F f) {
  Dims start(g.in.size(), 0);
  for (size_t d = g.in.size(); d-- > 0; o /= g.out[d]) {
    start[d] = o % g.out[d] * g.attrs.strides[d] - g.pads_begin[d];
  }
  ForPositions(g, g.window, start, g.attrs.dilations, 0, ProductOf(g.window), f);
}

// Calls f(i, position) for window position `w` of the output positions from `first` on.
template <typename F>
void ForOutputs(const ConvGeometry& g, int64_t w, int64_t first, int64_t count, F f) {
  Dims start(g.in.size(), 0);
  for (size_t d = g.in.size(); d-- > 0; w /= g.window[d]) {
    start[d] = w % g.window[d] * g.attrs.dilations[d] - g.pads_begin[d];
  }
  ForPositions(g, g.out, start, g.attrs.strides, first, count, f);
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
