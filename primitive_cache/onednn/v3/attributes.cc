// oneDNN 3: attributes only say which scales and zero points there are; the values are arguments of
// each execution.
#include <algorithm>
#include <utility>

#include "primitive_cache/onednn/onednn.h"

namespace tenon::onednn {
namespace {

template <typename T>
ConstantArgument Constant(int id, dnnl::memory::data_type type, const std::vector<T>& values) {
  const Desc desc({static_cast<dnnl::memory::dim>(values.size())}, type,
                  dnnl::memory::format_tag::x);
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

std::vector<ConstantArgument> SetQuantization(const Quantization& q, dnnl::primitive_attr& attr) {
  std::vector<ConstantArgument> constants;
  if (!q.scales.empty()) {
    // A bit for each dimension of the weights along which the scales differ: groups, outputs.
    const int per_channel = q.grouped ? 0b11 : 0b1;
    attr.set_scales_mask(DNNL_ARG_WEIGHTS, q.scales.size() == 1 ? 0 : per_channel);
    constants.push_back(
        Constant(DNNL_ARG_ATTR_SCALES | DNNL_ARG_WEIGHTS, dnnl::memory::data_type::f32, q.scales));
  }
  auto add_zero_point = [&](int argument, int32_t value) {
    if (value == 0) return;
    attr.set_zero_points_mask(argument, 0);
    constants.push_back(Constant(DNNL_ARG_ATTR_ZERO_POINTS | argument, dnnl::memory::data_type::s32,
                                 std::vector<int32_t>{value}));
  };
  add_zero_point(DNNL_ARG_SRC, q.src_zero);
  add_zero_point(DNNL_ARG_DST, q.dst_zero);
  return constants;
}

bool ScalesMultiplyBias() { return false; }

}  // namespace tenon::onednn
