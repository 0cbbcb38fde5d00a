#include "kernels/quantized/integer_conv.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "env/status.h"
#include "kernels/convolution/conv_pointwise.h"
#include "kernels/quantized/integer_product.h"

namespace tenon {
namespace {

// The windows of a channels-last image with two spatial dimensions. Terms are ordered as those of a
// filter: row, column, channel.
class IntegerWindows final : public IntegerRows {
 public:
  explicit IntegerWindows(ConvGeometry g) : g_(std::move(g)) {}

  void Copy(const NarrowLoops& loops, const uint8_t* data, size_t group, size_t row, size_t rows,
            LeftNumbers numbers, char* to, size_t to_row) const override {
    const auto positions = static_cast<size_t>(g_.out_positions());
    const auto width = static_cast<size_t>(g_.out[1]);
    const auto image = static_cast<size_t>(g_.in[0] * g_.in[1] * g_.in_channels);
    const auto first_channel = group * static_cast<size_t>(g_.in_per_group());
    for (size_t i = row; i < row + rows; ++i, to += to_row) {
      const size_t at = i % positions;
      CopyWindow(loops, data + i / positions * image + first_channel,
                 static_cast<int64_t>(at / width), static_cast<int64_t>(at % width), numbers, to);
    }
  }

 private:
  void CopyWindow(const NarrowLoops& loops, const uint8_t* image, int64_t y, int64_t x,
                  LeftNumbers numbers, char* to) const {
    const int64_t channels = g_.in_per_group();
    const Dims &strides = g_.attrs.strides, &dilations = g_.attrs.dilations;
    // Adjacent columns are copied together.
    const bool together = dilations[1] == 1 && g_.groups == 1;
    const auto column_bytes = static_cast<size_t>(channels) * loops.left_bytes;
    const int64_t left = x * strides[1] - g_.pads_begin[1];
    for (int64_t ky = 0; ky < g_.window[0]; ++ky) {
      const int64_t iy = y * strides[0] - g_.pads_begin[0] + ky * dilations[0];
      const bool row_inside = iy >= 0 && iy < g_.in[0];
      const uint8_t* const line = image + (row_inside ? iy * g_.in[1] * g_.in_channels : 0);
      for (int64_t kx = 0; kx < g_.window[1];) {
        const int64_t ix = left + kx * dilations[1];
        int64_t count = 1;
        const bool inside = row_inside && ix >= 0 && ix < g_.in[1];
        if (together) {
          // Up to where the image begins or ends.
          const int64_t most = g_.window[1] - kx;
          count = !row_inside ? most
                  : inside    ? std::min(most, g_.in[1] - ix)
                  : ix < 0    ? std::min(most, -ix)
                              : most;
        }
        const auto n = static_cast<size_t>(count * channels);
        if (inside) {
          loops.widen(line + ix * g_.in_channels, n, numbers.flip, to);
        } else {
          Fill(loops, numbers.zero, n, to);
        }
        to += static_cast<size_t>(count) * column_bytes;
        kx += count;
      }
    }
  }

  static void Fill(const NarrowLoops& loops, uint8_t zero, size_t n, char* to) {
    if (loops.left_bytes == 1) {
      std::memset(to, zero, n);
    } else {
      std::fill_n(reinterpret_cast<uint16_t*>(to), n, uint16_t{zero});
    }
  }

  const ConvGeometry g_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> IntegerConv(PrepareContext& p, const ConvGeometry& g,
                                                    const QuantizedFusion& fusion) {
  if (g.depthwise || !g.attrs.channels_last || g.attrs.spatial != 2) {
    return Unimplemented("a convolution of another form");
  }
  IntegerProduct product;
  product.fusion = fusion;
  product.matrix.groups = static_cast<size_t>(g.groups);
  product.matrix.terms = static_cast<size_t>(g.window_positions() * g.in_per_group());
  product.matrix.columns = static_cast<size_t>(g.out_per_group());
  product.matrix.term_stride = static_cast<size_t>(g.out_channels);
  product.rows = static_cast<size_t>(g.batch * g.out_positions());
  product.flops = g.flops();
  if (g.groups != 1 || !ReadsEachPixelOnce(g)) {
    product.source = std::make_unique<IntegerWindows>(g);
  }
  return PrepareIntegerProduct(p, std::move(product));
}

}  // namespace tenon
