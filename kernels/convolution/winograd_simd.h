// The loops of Winograd's minimal filtering for 3x3 windows, over channels: windows of an image to
// transformed tiles, products of these with transformed filters, and results back to the image.
//
//   Y = A' [sum over channels of (B' d B) * (G g G')] A
//
// d: a tile of (m + 2)^2 inputs, g: a filter, Y: m^2 outputs; * is elementwise, so each of the (m +
// 2)^2 positions is a separate matrix product [tiles, channels] x [channels, outputs].
// (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2015.)
#ifndef TENON_KERNELS_CONVOLUTION_WINOGRAD_SIMD_H_
#define TENON_KERNELS_CONVOLUTION_WINOGRAD_SIMD_H_

#include <cstddef>

namespace tenon {

// m outputs per dimension.
enum class WinogradTile { k2x2, k4x4 };

// Of images, bias and addends; all intermediate values are float.
enum class WinogradElement { kFloat, kBfloat16 };

// One tile of inputs: at[i] points to position i's channels. Position i of the result goes to out +
// i * position_stride, in blocks of `lanes` channels that are block_stride apart. A partial last
// block ends with the last channel (its first channels repeat those of the block before); if there
// are fewer than `lanes` channels in total, zeros follow them.
struct WinogradInput {
  const void* const* at = nullptr;
  size_t channels = 0;
  float* out = nullptr;
  size_t position_stride = 0, block_stride = 0;
};

// out[t, o] = sum over s and c of a[s][t, c] * b[s, c, o] for `width` outputs (lanes, or 2 lanes).
// Each of the `segments` a[s] is laid out as above: tile t of a block is at t * lanes. b and out
// are dense.
struct WinogradProduct {
  const float* const* a = nullptr;
  size_t segments = 1;
  size_t block_stride = 0;
  size_t tiles = 0, channels = 0, width = 0;
  const float* b = nullptr;
  float* out = nullptr;
};

// One tile of products, position i at in + i * position_stride, to `rows` x `columns` outputs. y =
// clamp(result + bias + addend) to low..high; bias and addend may be null; `addend` has the layout
// of `out`. A NaN stays NaN.
struct WinogradOutput {
  const float* in = nullptr;
  size_t position_stride = 0;
  size_t channels = 0;
  void* out = nullptr;
  size_t row_stride = 0, column_stride = 0;
  size_t rows = 0, columns = 0;
  const void* bias = nullptr;
  const void* addend = nullptr;
  bool clamp_low = false, clamp_high = false;  // at 0, at 6
};

// `outputs` filters over one input channel: tap i at taps + i * tap_stride; position i of the
// result goes to out + i * position_stride, with zeros up to `width`.
struct WinogradFilter {
  const float* taps = nullptr;
  size_t tap_stride = 0;
  size_t outputs = 0, width = 0;
  float* out = nullptr;
  size_t position_stride = 0;
};

struct WinogradLoops {
  size_t lanes;
  void (*input)(const WinogradInput&);
  void (*product)(const WinogradProduct&);
  void (*output)(const WinogradOutput&);
  void (*filter)(const WinogradFilter&);
};
WinogradLoops FindWinogradLoops(WinogradTile tile, WinogradElement element);

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_WINOGRAD_SIMD_H_
