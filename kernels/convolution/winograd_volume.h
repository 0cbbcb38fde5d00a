// Winograd's minimal filtering (kernels/convolution/winograd.h) over height and width, for windows
// of several planes, [depth, 3, 3], and for dilated rows and columns.
//
// The products of the planes under a window are added up in the transformed domain. A thread takes
// some tiles and walks along the depth, so that each plane is transformed once for all the windows
// that see it. With dilations, every dilation-th row and column is an image of its own.
#ifndef TENON_KERNELS_CONVOLUTION_WINOGRAD_VOLUME_H_
#define TENON_KERNELS_CONVOLUTION_WINOGRAD_VOLUME_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/convolution/winograd.h"

namespace tenon {

// Sizes in the order depth, height, width. An image is a volume of depth 1.
struct WinogradVolumeShape {
  // The transformed planes of a window are kept, so a window must be small.
  static constexpr int64_t kMostPlanes = 8;

  int64_t batch = 0, in_channels = 0, out_channels = 0;
  std::array<int64_t, 3> in = {}, out = {}, pads_begin = {};
  int64_t window_depth = 1;  // up to kMostPlanes, not dilated
  int64_t dilation_height = 1, dilation_width = 1;
  WinogradElement element = WinogradElement::kFloat;
};

class WinogradVolume final : public WinogradConvolution {
 public:
  WinogradVolume(const WinogradVolumeShape& shape, WinogradTile tile, int threads);

  std::string Name() const override;
  // The filter is [window_depth, 3, 3, in_channels, out_channels].
  size_t filter_bytes() const override;
  std::string filter_key() const override;
  void TransformFilter(const float* filter, float* transformed) const override;
  size_t scratch_bytes() const override;
  void Run(const void* x, const float* filter, const WinogradFinish& finish, void* y,
           void* scratch) const override;

 private:
  // A tile of a plane: its first input and output, and how many outputs exist.
  struct Tile {
    int64_t in_row, in_column, out_row, out_column, rows, columns;
  };
  // What one thread computes: tiles [begin, end) of the planes [first, last) of an image.
  struct Unit {
    int64_t image, begin, end, first, last;
  };
  // The planes of a window that lie inside the volume: `planes` from tap `first` on, transformed.
  struct Window {
    int64_t first = 0;
    size_t planes = 0;
    std::array<const float*, WinogradVolumeShape::kMostPlanes> at = {};
  };
  void ListTiles();
  void Divide();
  Unit UnitAt(int64_t index) const;
  void TransformPlane(const char* plane, const float* zeros, const Unit& unit, float* inputs) const;
  void RunPanel(const float* filter, const Unit& unit, int64_t panel, const Window& window,
                const WinogradFinish& finish, float* products, char* y, int64_t plane) const;
  void RunUnit(const char* x, const float* filter, const WinogradFinish& finish, char* y,
               const float* zeros, const Unit& unit, float* inputs, float* products) const;

  const WinogradVolumeShape shape_;
  const WinogradLoops loops_;
  const int threads_;
  const int64_t bytes_;      // of an element of the volume
  const int64_t in_, out_;   // inputs and outputs of a tile, per dimension
  const int64_t positions_;  // in_ * in_
  std::vector<Tile> tiles_;  // of a plane
  int64_t width_;            // outputs of a panel
  int64_t panels_;
  int64_t ranges_ = 1, parts_ = 1;         // of the tiles, of the depth
  int64_t input_stride_, product_stride_;  // floats between positions
};

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_WINOGRAD_VOLUME_H_
