#include "kernels/convolution/im2col.h"

namespace tenon {

std::vector<int64_t> WindowSources(const ConvGeometry& g) {
  std::vector<int64_t> sources;
  for (int64_t o = 0; o < g.out_positions(); ++o) {
    for (int64_t w = 0; w < g.window_positions(); ++w) {
      int64_t position = 0, scale = 1, out = o, window = w;
      for (size_t d = g.in.size(); d-- > 0;) {
        const int64_t x = out % g.out[d] * g.attrs.strides[d] +
                          window % g.window[d] * g.attrs.dilations[d] - g.pads_begin[d];
        if (x < 0 || x >= g.in[d]) {
          position = -1;
          break;
        }
        position += x * scale;
        scale *= g.in[d];
        out /= g.out[d];
        window /= g.window[d];
      }
      sources.push_back(position);
    }
  }
  return sources;
}

}  // namespace tenon
