// The geometry of windows over images: the attributes that convolutions and pools share, resolved
// against shapes.
#ifndef TENON_KERNELS_CONVOLUTION_CONV_GEOMETRY_H_
#define TENON_KERNELS_CONVOLUTION_CONV_GEOMETRY_H_

#include <vector>

#include "absl/status/statusor.h"
#include "graph/attr_reader.h"
#include "primitive_cache/tensor_desc.h"

namespace tenon {

// strides, dilations, padding and explicit_paddings in the order of the spatial dimensions.
struct WindowAttrs {
  enum class Padding { kSame, kValid, kExplicit };
  int spatial = 2;
  bool channels_last = true;
  Padding padding = Padding::kValid;
  Dims strides;
  Dims dilations;  // 1: dense
  Dims explicit_begin, explicit_end;
  Dims window;  // of pools (ksize); empty for convolutions

  int rank() const { return spatial + 2; }
  int channel_axis() const { return channels_last ? spatial + 1 : 1; }
  int spatial_axis(int i) const { return channels_last ? i + 1 : i + 2; }
};

// InvalidArgument for anything that TensorFlow refuses: strides or windows over batch or channels,
// values below 1, invalid explicit paddings.
absl::StatusOr<WindowAttrs> ReadWindowAttrs(const AttrReader& attrs, int spatial);

// Output size and padding of one dimension; -1 in gives -1 out. InvalidArgument for a negative
// size.
struct WindowSpan {
  int64_t output = -1;
  int64_t pad_begin = 0;
  int64_t pad_end = 0;
};
absl::StatusOr<WindowSpan> ResolveWindow(const WindowAttrs& attrs, int dim, int64_t input,
                                         int64_t window);

// A convolution with all sizes known. Two-dimensional ones have two spatial entries.
struct ConvGeometry {
  WindowAttrs attrs;
  int64_t batch = 0;
  int64_t in_channels = 0;
  int64_t out_channels = 0;
  int64_t groups = 1;
  bool depthwise = false;  // the filter is [spatial..., C, multiplier]
  Dims in, out, window, pads_begin, pads_end;

  int64_t in_per_group() const { return in_channels / groups; }
  int64_t out_per_group() const { return out_channels / groups; }
  int64_t out_positions() const;  // of one image
  int64_t window_positions() const;
  int64_t filter_elements() const;
  double flops() const;
};

enum class ConvKind { kDense, kDepthwise };

// The output shape for possibly partial shapes.
absl::StatusOr<Shape> ConvOutputShape(const WindowAttrs& attrs, ConvKind kind, const Shape& input,
                                      const Shape& filter);
absl::StatusOr<ConvGeometry> ResolveConv(const AttrReader& attrs, int spatial, ConvKind kind,
                                         const Shape& input, const Shape& filter);

// The same convolution with fewer and longer channels: the last axes that the filter covers whole,
// as those of text and spectra do, become channels. Memory stays as it is. For channels in order;
// others, and convolutions in groups, are returned as they are.
ConvGeometry WholeAxesAsChannels(ConvGeometry g);

// Whether neighboring windows of an image of floats, [N, H, W, C], begin a multiple of 4 KiB apart,
// so that all rows of a tile share one set of the first-level cache where they are read in place.
bool WindowsShareSets(const ConvGeometry& g);

// Strides, in elements, of [N, positions, C] or [N, C, positions]: the spatial dimensions, in
// row-major order, count as one.
struct ImageStrides {
  int64_t batch, channel, position;
  ImageStrides(bool channels_last, int64_t channels, int64_t positions)
      : batch(channels * positions),
        channel(channels_last ? 1 : positions),
        position(channels_last ? channels : 1) {}
};

// [N, spatial..., C] or [N, C, spatial...] as oneDNN describes it: dims N, C, spatial, with the
// strides of the actual order in memory.
TensorDesc ImageDesc(ElementType type, bool channels_last, int64_t batch, int64_t channels,
                     const Dims& spatial);

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_CONV_GEOMETRY_H_
