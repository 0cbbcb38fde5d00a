#include "kernels/convolution/depthwise_floats.h"

#include <algorithm>

#include "env/status.h"

namespace tenon {

absl::StatusOr<DepthwiseFloats> DepthwiseFloats::Make(const PrepareContext& p,
                                                      const ConvGeometry& g,
                                                      const FusedOps& fused) {
  if (p.output_dtype(0) != DType::kFloat || !g.attrs.channels_last || g.attrs.spatial != 2 ||
      g.groups != g.in_channels || g.out_channels != g.in_channels || g.attrs.dilations[1] != 1) {
    return Unimplemented("not a depthwise convolution of floats, or dilated");
  }
  const DepthwiseFloatLoops loops = FindDepthwiseFloatLoops(g.window[1], g.attrs.strides[1]);
  if (loops.compute == nullptr || g.in_channels < static_cast<int64_t>(loops.lanes)) {
    return Unimplemented("no loops for the window, or few channels");
  }
  if (std::max(g.pads_begin[1], g.pads_end[1]) >= g.window[1]) {
    return Unimplemented("padding as wide as the window");
  }
  return DepthwiseFloats(p, g, fused, loops);
}

DepthwiseFloats::DepthwiseFloats(const PrepareContext& p, const ConvGeometry& g,
                                 const FusedOps& fused, DepthwiseFloatLoops loops)
    : height_(g, 0),
      width_(g, 1),
      lines_(g.batch * g.out[0]),
      channels_(g.in_channels),
      loops_(loops),
      first_(PlanRegisterChain(p, fused)),
      rest_(p, first_.RestOf(fused), static_cast<size_t>(channels_)) {}

void DepthwiseFloats::ComputeLine(RunContext& r, int64_t line, int64_t first,
                                  DepthwiseLine l) const {
  l.width = width_.in;
  l.pad = width_.pad;
  l.pixels = static_cast<size_t>(width_.out);
  l.pixel = static_cast<size_t>(channels_);
  if (first_.bias >= 0) l.bias = r.input<float>(first_.bias) + first;
  if (first_.addend >= 0) {
    l.addend = r.input<float>(first_.addend) + line * width_.out * channels_ + first;
  }
  l.clamp_low = first_.clamp_low;
  l.clamp_high = first_.clamp_high;
  loops_.compute(l);
}

void DepthwiseFloats::FinishLines(RunContext& r, int64_t line, int64_t last, float* out) const {
  const auto size = [](int64_t n) { return static_cast<size_t>(n); };
  rest_.ApplyAt(r, {size(line * width_.out), size((last - line) * width_.out), 0, size(channels_)},
                out, size(channels_));
}

}  // namespace tenon
