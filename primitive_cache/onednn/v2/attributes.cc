// oneDNN 2: scales and zero points are values in the attributes.
#include "primitive_cache/onednn/onednn.h"

namespace tenon::onednn {

void AppendEltwise(dnnl::post_ops& ops, dnnl::algorithm f, float scale, float alpha, float beta) {
  ops.append_eltwise(scale, f, alpha, beta);
}

void AppendSum(dnnl::post_ops& ops, float scale, dnnl::memory::data_type type) {
  ops.append_sum(scale, type);
}

void AppendScales(const std::vector<float>& scales, int, dnnl::primitive_attr& attr,
                  dnnl::post_ops&, std::vector<ConstantArgument>&) {
  attr.set_output_scales(scales.size() == 1 ? 0 : 1 << 1, scales);
}

void SetZeroPoints(int32_t src_zero, int32_t dst_zero, dnnl::primitive_attr& attr,
                   std::vector<ConstantArgument>&) {
  if (src_zero != 0) attr.set_zero_points(DNNL_ARG_SRC, 0, {src_zero});
  if (dst_zero != 0) attr.set_zero_points(DNNL_ARG_DST, 0, {dst_zero});
}

}  // namespace tenon::onednn
