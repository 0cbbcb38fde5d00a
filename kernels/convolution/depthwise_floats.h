// A depthwise convolution of floats, line by line, with its fused chain. Several pixels are
// computed at once, which share the filter's weights and what they read of the image.
#ifndef TENON_KERNELS_CONVOLUTION_DEPTHWISE_FLOATS_H_
#define TENON_KERNELS_CONVOLUTION_DEPTHWISE_FLOATS_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "kernels/contraction/fused_ops.h"
#include "kernels/contraction/register_chain.h"
#include "kernels/contraction/tile_chain.h"
#include "kernels/convolution/conv_geometry.h"
#include "kernels/convolution/depthwise_floats_simd.h"
#include "kernels/convolution/window_spans.h"
#include "kernels/interface/kernel.h"

namespace tenon {

class DepthwiseFloats {
 public:
  // Of a node whose input 0 is a float image [N, H, W, C], input 1 a filter of C channels.
  // Unimplemented for others, for few channels, and for windows that there are no loops for.
  static absl::StatusOr<DepthwiseFloats> Make(const PrepareContext& p, const ConvGeometry& g,
                                              const FusedOps& fused);

  // Of all images.
  int64_t lines() const { return lines_; }
  const WindowSpans& height() const { return height_; }
  size_t lanes() const { return loops_.lanes; }

  // Whether Finish does nothing, so that lines need not be in the output.
  bool InParts() const { return rest_.InParts(); }

  // The channels [first, last) of a line of the output, at least lanes() of them, from an image
  // whose lines of these channels are at image_line(y), `pixel` floats for each pixel. `out`: the
  // line, with all channels.
  template <typename ImageLine>
  void Compute(RunContext& r, int64_t line, int64_t first, int64_t last, ImageLine image_line,
               int64_t pixel, float* out) const {
    absl::InlinedVector<const float*, 16> rows, filters;
    const int64_t y = line % height_.out;
    const TapRange taps = height_.Taps(y);
    for (int64_t tap = taps.first; tap < taps.last; ++tap) {
      rows.push_back(image_line(height_.Source(y, tap)));
      filters.push_back(r.input<float>(1) + tap * width_.window * channels_ + first);
    }
    DepthwiseLine l;
    l.rows = rows.data();
    l.filters = filters.data();
    l.num_rows = rows.size();
    l.row_pixel = static_cast<size_t>(pixel);
    l.channels = static_cast<size_t>(last - first);
    l.out = out + first;
    ComputeLine(r, line, first, l);
  }
  // To be called for the lines [line, last), at `out`, of which all channels are computed,
  void FinishLines(RunContext& r, int64_t line, int64_t last, float* out) const;
  // and then once.
  void Finish(RunContext& r) const { rest_.Finish(r); }

 private:
  DepthwiseFloats(const PrepareContext& p, const ConvGeometry& g, const FusedOps& fused,
                  DepthwiseFloatLoops loops);
  void ComputeLine(RunContext& r, int64_t line, int64_t first, DepthwiseLine l) const;

  WindowSpans height_, width_;
  int64_t lines_, channels_;
  DepthwiseFloatLoops loops_;
  RegisterChain first_;
  TileChain rest_;
};

}  // namespace tenon

#endif  // TENON_KERNELS_CONVOLUTION_DEPTHWISE_FLOATS_H_
