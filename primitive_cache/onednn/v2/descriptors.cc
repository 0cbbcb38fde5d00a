// oneDNN 2: an operation descriptor first, then the primitive descriptor.
#include "primitive_cache/onednn/onednn.h"

namespace tenon::onednn {
namespace {

constexpr bool kAllowEmpty = true;
constexpr auto kDirect = dnnl::algorithm::convolution_direct;

// The operation's description, of which `pd` was made, must exist until this returns.
template <typename Pd>
Pd First(Accept accept, Pd pd) {
  while (pd && !accept(pd.impl_info_str())) {
    if (!pd.next_impl()) return Pd();
  }
  return pd;
}

}  // namespace

dnnl::convolution_forward::primitive_desc Convolution(dnnl::prop_kind kind,
                                                      dnnl::algorithm algorithm,
                                                      const ConvolutionDescs& c,
                                                      const dnnl::primitive_attr& attr,
                                                      Accept accept) {
  using Operation = dnnl::convolution_forward::desc;
  const Operation operation = c.bias.is_zero()
                                  ? Operation(kind, algorithm, c.src, c.weights, c.dst, c.strides,
                                              c.gaps, c.pads_begin, c.pads_end)
                                  : Operation(kind, algorithm, c.src, c.weights, c.bias, c.dst,
                                              c.strides, c.gaps, c.pads_begin, c.pads_end);
  return First<dnnl::convolution_forward::primitive_desc>(
      accept, {operation, attr, CpuEngine(), kAllowEmpty});
}

dnnl::convolution_backward_data::primitive_desc SourceGradient(
    const ConvolutionDescs& c, const dnnl::primitive_attr& attr,
    const dnnl::convolution_forward::primitive_desc& forward, Accept accept) {
  const dnnl::convolution_backward_data::desc operation(kDirect, c.src, c.weights, c.dst, c.strides,
                                                        c.gaps, c.pads_begin, c.pads_end);
  return First<dnnl::convolution_backward_data::primitive_desc>(
      accept, {operation, attr, CpuEngine(), forward, kAllowEmpty});
}

dnnl::convolution_backward_weights::primitive_desc WeightsGradient(
    const ConvolutionDescs& c, const dnnl::primitive_attr& attr,
    const dnnl::convolution_forward::primitive_desc& forward, Accept accept) {
  using Operation = dnnl::convolution_backward_weights::desc;
  const Operation operation =
      c.bias.is_zero()
          ? Operation(kDirect, c.src, c.weights, c.dst, c.strides, c.gaps, c.pads_begin, c.pads_end)
          : Operation(kDirect, c.src, c.weights, c.bias, c.dst, c.strides, c.gaps, c.pads_begin,
                      c.pads_end);
  return First<dnnl::convolution_backward_weights::primitive_desc>(
      accept, {operation, attr, CpuEngine(), forward, kAllowEmpty});
}

dnnl::matmul::primitive_desc Matmul(const Desc& src, const Desc& weights, const Desc& bias,
                                    const Desc& dst, const dnnl::primitive_attr& attr,
                                    Accept accept) {
  using Operation = dnnl::matmul::desc;
  const Operation operation =
      bias.is_zero() ? Operation(src, weights, dst) : Operation(src, weights, bias, dst);
  return First<dnnl::matmul::primitive_desc>(accept, {operation, attr, CpuEngine(), kAllowEmpty});
}

dnnl::pooling_forward::primitive_desc Pooling(dnnl::algorithm algorithm, const PoolingDescs& p,
                                              const dnnl::primitive_attr& attr, Accept accept) {
  const dnnl::pooling_forward::desc operation(dnnl::prop_kind::forward_inference, algorithm, p.src,
                                              p.dst, p.strides, p.window, p.pads_begin, p.pads_end);
  return First<dnnl::pooling_forward::primitive_desc>(accept,
                                                      {operation, attr, CpuEngine(), kAllowEmpty});
}

}  // namespace tenon::onednn
