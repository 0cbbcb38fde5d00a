// oneDNN 3: primitive descriptors are made from the parts of the operation.
#include "primitive_cache/onednn/onednn.h"

namespace tenon::onednn {
namespace {

constexpr bool kAllowEmpty = true;
constexpr auto kDirect = dnnl::algorithm::convolution_direct;

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
  if (c.bias.is_zero()) {
    return First<dnnl::convolution_forward::primitive_desc>(
        accept, {CpuEngine(), kind, algorithm, c.src, c.weights, c.dst, c.strides, c.gaps,
                 c.pads_begin, c.pads_end, attr, kAllowEmpty});
  }
  return First<dnnl::convolution_forward::primitive_desc>(
      accept, {CpuEngine(), kind, algorithm, c.src, c.weights, c.bias, c.dst, c.strides, c.gaps,
               c.pads_begin, c.pads_end, attr, kAllowEmpty});
}

dnnl::convolution_backward_data::primitive_desc SourceGradient(
    const ConvolutionDescs& c, const dnnl::primitive_attr& attr,
    const dnnl::convolution_forward::primitive_desc& forward, Accept accept) {
  return First<dnnl::convolution_backward_data::primitive_desc>(
      accept, {CpuEngine(), kDirect, c.src, c.weights, c.dst, c.strides, c.gaps, c.pads_begin,
               c.pads_end, forward, attr, kAllowEmpty});
}

dnnl::convolution_backward_weights::primitive_desc WeightsGradient(
    const ConvolutionDescs& c, const dnnl::primitive_attr& attr,
    const dnnl::convolution_forward::primitive_desc& forward, Accept accept) {
  if (c.bias.is_zero()) {
    return First<dnnl::convolution_backward_weights::primitive_desc>(
        accept, {CpuEngine(), kDirect, c.src, c.weights, c.dst, c.strides, c.gaps, c.pads_begin,
                 c.pads_end, forward, attr, kAllowEmpty});
  }
  return First<dnnl::convolution_backward_weights::primitive_desc>(
      accept, {CpuEngine(), kDirect, c.src, c.weights, c.bias, c.dst, c.strides, c.gaps,
               c.pads_begin, c.pads_end, forward, attr, kAllowEmpty});
}

dnnl::matmul::primitive_desc Matmul(const Desc& src, const Desc& weights, const Desc& bias,
                                    const Desc& dst, const dnnl::primitive_attr& attr,
                                    Accept accept) {
  if (bias.is_zero())
    return First<dnnl::matmul::primitive_desc>(accept,
                                               {CpuEngine(), src, weights, dst, attr, kAllowEmpty});
  return First<dnnl::matmul::primitive_desc>(
      accept, {CpuEngine(), src, weights, bias, dst, attr, kAllowEmpty});
}

dnnl::pooling_forward::primitive_desc Pooling(dnnl::algorithm algorithm, const PoolingDescs& p,
                                              const dnnl::primitive_attr& attr, Accept accept) {
  const Dims no_gaps(p.window.size(), 0);
  return First<dnnl::pooling_forward::primitive_desc>(
      accept, {CpuEngine(), dnnl::prop_kind::forward_inference, algorithm, p.src, p.dst, p.strides,
               p.window, no_gaps, p.pads_begin, p.pads_end, attr, kAllowEmpty});
}

}  // namespace tenon::onednn
