// Stride-1 3x3 convolutions of float or bfloat16 images (NHWC) by Winograd's minimal filtering:
// fewer products (4 or 2.25 per output and channel instead of 9), and rounding of the same order.
// But an infinity or NaN spreads over its whole tile.
//
// Tiles are transformed in blocks that fit the second-level cache. Each panel of outputs is then
// multiplied with the transformed filter and transformed back, so that the image is read and
// written in place, once.
#ifndef TENON_KERNELS_CONVOLUTION_WINOGRAD_H_
#define TENON_KERNELS_CONVOLUTION_WINOGRAD_H_

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "kernels/contraction/tile_step.h"
#include "kernels/convolution/winograd_simd.h"
#include "kernels/elementwise/elementwise.h"

namespace tenon {

struct WinogradShape {
  int64_t batch = 0, in_height = 0, in_width = 0, in_channels = 0;
  int64_t out_height = 0, out_width = 0, out_channels = 0;
  int64_t pad_top = 0, pad_left = 0;
  WinogradElement element = WinogradElement::kFloat;  // products are float
};

// The ops applied to the outputs, in this order.
struct WinogradFinish {
  const void* bias = nullptr;    // one value per output channel, or null
  const void* addend = nullptr;  // of the output's shape, or null; may be the output itself
  bool clamp_low = false, clamp_high = false;  // at 0, at 6
  absl::Span<const TileStep> steps;            // operands must not be the output
};

class WinogradConvolution {
 public:
  virtual ~WinogradConvolution() = default;

  virtual std::string Name() const = 0;  // "winograd4x4:AVX2"

  // Transforms the filter [3, 3, in_channels, out_channels] into filter_bytes() bytes, 64-byte
  // aligned. The result's layout depends only on the filter's shape, tile and instruction set.
  virtual size_t filter_bytes() const = 0;
  virtual std::string filter_key() const = 0;
  virtual void TransformFilter(const float* filter, float* transformed) const = 0;

  virtual size_t scratch_bytes() const = 0;
  virtual void Run(const void* x, const float* filter, const WinogradFinish& finish, void* y,
                   void* scratch) const = 0;
};

// Applies the finish's steps to a tile that has just been written; its first element, at y + at,
// belongs to `channel`.
void RunWinogradSteps(const WinogradFinish& finish, const WinogradOutput& o, int64_t at,
                      int64_t channel, float* y);

// Rounds up to an odd number of cache lines, so that positions do not share a cache set.
int64_t OddCacheLines(int64_t floats);

class Winograd final : public WinogradConvolution {
 public:
  Winograd(const WinogradShape& shape, WinogradTile tile, int threads);

  std::string Name() const override;
  size_t filter_bytes() const override;
  std::string filter_key() const override;
  void TransformFilter(const float* filter, float* transformed) const override;
  size_t scratch_bytes() const override;
  void Run(const void* x, const float* filter, const WinogradFinish& finish, void* y,
           void* scratch) const override;

 private:
  struct Block {
    int64_t begin = 0, tiles = 0;
  };
  Block BlockAt(int64_t index) const;
  void TransformInput(const char* x, const float* zeros, int64_t tile, int64_t place,
                      int64_t block_tiles, float* inputs) const;
  void RunPanel(const float* filter, const Block& block, int64_t panel, const float* inputs,
                const WinogradFinish& finish, float* products, char* y) const;

  const WinogradShape shape_;
  const WinogradTile tile_;
  const WinogradLoops loops_;
  int threads_;
  const int64_t bytes_;     // of an element of the image
  int64_t in_, out_;        // inputs and outputs of a tile, per dimension
  int64_t positions_;       // in_ * in_
  int64_t rows_, columns_;  // of tiles
  int64_t tiles_;           // of all images
  int64_t width_;           // outputs of a panel
  int64_t panels_;
  int64_t blocks_, block_tiles_;
  bool share_blocks_;  // threads take blocks; otherwise all work on one block and take panels
  int64_t input_stride_, product_stride_;  // floats between positions
};

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_WINOGRAD_H_
