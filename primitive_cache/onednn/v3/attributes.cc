// oneDNN 3: attributes only say which scales and zero points there are; the values are arguments of
// each execution.
#include <algorithm>
#include <utility>

#include "primitive_cache/onednn/onednn.h"

namespace tenon::onednn {
namespace {

template <typename T>
ConstantArgument Constant(int id, const Desc& desc, const std::vector<T>& values) {
  dnnl::memory memory(desc, CpuEngine());
  std::copy(values.begin(), values.end(), static_cast<T*>(memory.get_data_handle()));
  return {id, std::move(memory)};
}

}  // namespace

void AppendEltwise(dnnl::post_ops& ops, dnnl::algorithm f, float scale, float alpha, float beta) {
  if (f == dnnl::algorithm::eltwise_hardswish) {  // x * min(max(alpha * x + beta, 0), 1)
    alpha = 1.0f / 6;
    beta = 0.5f;
  }
  ops.append_eltwise(f, alpha, beta);
  if (scale != 1) ops.append_eltwise(dnnl::algorithm::eltwise_linear, scale, 0);
}

void AppendSum(dnnl::post_ops& ops, float scale, dnnl::memory::data_type type) {
  ops.append_sum(scale, /*zero_point=*/0, type);
}

void AppendScales(const std::vector<float>& scales, int rank, dnnl::primitive_attr&,
                  dnnl::post_ops& ops, std::vector<ConstantArgument>& constants) {
  // The attribute for scales would multiply the sums alone, without the bias.
  Dims dims(static_cast<size_t>(rank), 1);
  dims[1] = static_cast<int64_t>(scales.size());
  const Desc desc(dims, dnnl::memory::data_type::f32, Dims(dims.size(), 1));
  const int id = DNNL_ARG_ATTR_MULTIPLE_POST_OP(ops.len()) | DNNL_ARG_SRC_1;
  ops.append_binary(dnnl::algorithm::binary_mul, desc);
  constants.push_back(Constant(id, desc, scales));
}

void SetZeroPoints(int32_t src_zero, int32_t dst_zero, dnnl::primitive_attr& attr,
                   std::vector<ConstantArgument>& constants) {
  const Desc one({1}, dnnl::memory::data_type::s32, dnnl::memory::format_tag::x);
  auto add = [&](int argument, int32_t value) {
    if (value == 0) return;
    attr.set_zero_points_mask(argument, 0);
    constants.push_back(
        Constant(DNNL_ARG_ATTR_ZERO_POINTS | argument, one, std::vector<int32_t>{value}));
  };
  add(DNNL_ARG_SRC, src_zero);
  add(DNNL_ARG_DST, dst_zero);
}

}  // namespace tenon::onednn
