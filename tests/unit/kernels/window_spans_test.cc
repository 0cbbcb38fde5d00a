#include "kernels/convolution/window_spans.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

ConvGeometry Line(int64_t in, int64_t out, int64_t window, int64_t stride, int64_t dilation,
                  int64_t pad) {
  ConvGeometry g;
  g.in = {in};
  g.out = {out};
  g.window = {window};
  g.pads_begin = {pad};
  g.attrs.strides = {stride};
  g.attrs.dilations = {dilation};
  return g;
}

TEST(WindowSpans, OutputsInside) {
  for (int64_t in : {1, 2, 5, 9}) {
    for (int64_t window : {1, 2, 3, 7}) {
      for (int64_t stride : {1, 2, 4}) {
        for (int64_t dilation : {1, 3}) {
          for (int64_t pad : {0, 1, 3, 8}) {
            for (int64_t out : {0, 1, 6, 12}) {
              const WindowSpans spans(Line(in, out, window, stride, dilation, pad), 0);
              EXPECT_LE(0, spans.inside_begin);
              EXPECT_LE(spans.inside_begin, spans.inside_end);
              EXPECT_LE(spans.inside_end, out);
              for (int64_t i = 0; i < out; ++i) {
                const bool inside = spans.Source(i, 0) >= 0 && spans.Source(i, window - 1) < in;
                EXPECT_EQ(inside, i >= spans.inside_begin && i < spans.inside_end)
                    << in << " " << window << " " << stride << " " << dilation << " " << pad << " "
                    << i;
              }
            }
          }
        }
      }
    }
  }
}

// An image that is too large for memory is refused when it is allocated, not counted before.
TEST(WindowSpans, OfAHugeImage) {
  constexpr int64_t kHuge = int64_t{1} << 50;
  const WindowSpans spans(Line(kHuge, kHuge, 3, 1, 1, 1), 0);
  EXPECT_EQ(spans.inside_begin, 1);
  EXPECT_EQ(spans.inside_end, kHuge - 1);
}

}  // namespace
}  // namespace tenon
