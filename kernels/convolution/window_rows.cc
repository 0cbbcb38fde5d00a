#include "kernels/convolution/window_rows.h"

#include <algorithm>

namespace tenon {

void WindowRows::Copy(const float* input, int64_t row, int64_t rows, int64_t term, int64_t terms,
                      float* to, int64_t to_row) const {
  const int64_t line = g_.window[1] * g_.in_channels;
  int64_t x = row % g_.out[1], y = row / g_.out[1] % g_.out[0], n = row / g_.out[1] / g_.out[0];
  const int64_t first_line = term / line, first_term = term % line;
  for (int64_t i = 0; i < rows; ++i, to += to_row) {
    float* at = to;
    int64_t left = terms, from = first_term;
    for (int64_t dy = first_line; left > 0; ++dy, from = 0) {
      const int64_t size = std::min(left, line - from);
      const int64_t source = y * g_.attrs.strides[0] + dy - g_.pads_begin[0];
      if (source < 0 || source >= g_.in[0]) {
        std::fill_n(at, size, 0.0f);
      } else {
        CopyLine(input + (n * g_.in[0] + source) * g_.in[1] * g_.in_channels,
                 x * g_.attrs.strides[1] - g_.pads_begin[1], from, size, at);
      }
      at += size;
      left -= size;
    }
    if (++x == g_.out[1]) {
      x = 0;
      if (++y == g_.out[0]) y = 0, ++n;
    }
  }
}

// The terms [from, from + size) of a line of the window, whose first pixel is `x`: in the image,
// its pixels lie side by side.
void WindowRows::CopyLine(const float* line, int64_t x, int64_t from, int64_t size,
                          float* to) const {
  const int64_t begin = x * g_.in_channels + from;
  const int64_t before = std::clamp<int64_t>(-begin, 0, size);
  const int64_t end = std::clamp<int64_t>(g_.in[1] * g_.in_channels - begin, before, size);
  std::fill_n(to, before, 0.0f);
  std::copy(line + begin + before, line + begin + end, to + before);
  std::fill_n(to + end, size - end, 0.0f);
}

}  // namespace tenon
