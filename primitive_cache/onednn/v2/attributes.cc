// oneDNN 2: scales and zero points are values in the attributes.
#include "primitive_cache/onednn/onednn.h"

namespace tenon::onednn {

void AppendEltwise(dnnl::post_ops& ops, dnnl::algorithm f, float scale, float alpha, float beta) {
  ops.append_eltwise(scale, f, alpha, beta);
}

void AppendSum(dnnl::post_ops& ops, float scale, dnnl::memory::data_type type) {
  ops.append_sum(scale, type);
}

std::vector<ConstantArgument> SetQuantization(const Quantization& q, dnnl::primitive_attr& attr) {
  if (!q.scales.empty()) attr.set_output_scales(q.scales.size() == 1 ? 0 : 1 << 1, q.scales);
  if (q.src_zero != 0) attr.set_zero_points(DNNL_ARG_SRC, 0, {q.src_zero});
  if (q.dst_zero != 0) attr.set_zero_points(DNNL_ARG_DST, 0, {q.dst_zero});
  return {};
}

bool ScalesMultiplyBias() { return true; }

}  // namespace tenon::onednn
