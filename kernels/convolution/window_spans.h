// Which taps of a convolution's windows lie in the image.
#ifndef TENON_KERNELS_CONVOLUTION_WINDOW_SPANS_H_
#define TENON_KERNELS_CONVOLUTION_WINDOW_SPANS_H_

#include <algorithm>
#include <cstdint>

#include "env/round_up.h"
#include "kernels/convolution/conv_geometry.h"
#include "kernels/interface/tap_range.h"

namespace tenon {

// One dimension of the windows.
struct WindowSpans {
  int64_t in, out, window, stride, dilation, pad;
  int64_t inside_begin = 0, inside_end = 0;  // the outputs whose windows lie in the image

  WindowSpans(const ConvGeometry& g, size_t dim)
      : in(g.in[dim]),
        out(g.out[dim]),
        window(g.window[dim]),
        stride(g.attrs.strides[dim]),
        dilation(g.attrs.dilations[dim]),
        pad(g.pads_begin[dim]) {
    inside_begin = std::clamp<int64_t>(CeilDiv(pad, stride), 0, out);
    const int64_t room = in - 1 - Source(0, window - 1);  // that the last tap of output 0 may move
    inside_end = room < 0 ? inside_begin : std::clamp(room / stride + 1, inside_begin, out);
  }
  int64_t Source(int64_t output, int64_t tap) const {
    return output * stride + tap * dilation - pad;
  }
  TapRange Taps(int64_t output) const {
    return TapsInside(Source(output, 0), in, window, dilation);
  }
  // fn(first, count) for all outputs, in parts that have the same taps.
  template <typename F>
  void ForParts(F fn) const {
    for (int64_t i = 0; i < inside_begin; ++i) fn(i, 1);
    if (inside_end > inside_begin) fn(inside_begin, inside_end - inside_begin);
    for (int64_t i = inside_end; i < out; ++i) fn(i, 1);
  }
};

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_WINDOW_SPANS_H_
