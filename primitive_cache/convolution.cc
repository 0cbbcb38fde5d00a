#include "primitive_cache/convolution.h"

#include "primitive_cache/dnnl_primitive.h"

namespace tenon {
namespace {

using Conv = dnnl::convolution_forward;

Conv::desc Describe(const ConvolutionProblem& p, const dnnl::memory::desc& weights) {
  Dims gaps = p.dilations;  // oneDNN counts the elements skipped
  for (int64_t& d : gaps) --d;
  const auto kind = dnnl::prop_kind::forward_inference;
  const auto algorithm = dnnl::algorithm::convolution_direct;
  const auto src = ToDnnl(p.src), dst = ToDnnl(p.dst);
  if (p.has_bias) {
    const ElementType type = p.dst.type == ElementType::kBf16 ? p.dst.type : ElementType::kF32;
    const dnnl::memory::desc bias({p.dst.dims[1]}, ToDnnl(type), dnnl::memory::format_tag::x);
    return Conv::desc(kind, algorithm, src, weights, bias, dst, ToDnnl(p.strides), ToDnnl(gaps),
                      ToDnnl(p.pads_begin), ToDnnl(p.pads_end));
  }
  return Conv::desc(kind, algorithm, src, weights, dst, ToDnnl(p.strides), ToDnnl(gaps),
                    ToDnnl(p.pads_begin), ToDnnl(p.pads_end));
}

// oneDNN 2.6.3's convolution by gemm computes binary post-ops wrongly in some shapes (more than one
// image; a value for each image and channel).
template <typename Pd>
bool CanBeTrusted(const Pd& pd, absl::Span<const PostOpSpec> post_ops) {
  if (!absl::StrContains(pd.impl_info_str(), "gemm:")) return true;
  for (const PostOpSpec& p : post_ops) {
    if (p.binary()) return false;
  }
  return true;
}

absl::StatusOr<std::shared_ptr<const Primitive>> Build(const ConvolutionProblem& p) {
  const ThreadScope threads(p.threads);
  dnnl::primitive_attr attr = Attributes(p.post_ops);
  if (!p.scales.empty()) attr.set_output_scales(p.scales.size() == 1 ? 0 : 1 << 1, p.scales);
  using Pd = Conv::primitive_desc;
  absl::StatusOr<Pd> pd = CompiledImplementation<Pd>(Describe(p, AnyLayout(p.weights)), attr);
  if (!pd.ok()) pd = CompiledImplementation<Pd>(Describe(p, ToDnnl(p.weights)), attr);
  if (!pd.ok()) return pd.status();
  if (!CanBeTrusted(*pd, p.post_ops)) return Unimplemented("oneDNN has no sound implementation");

  PrimitiveParts parts;
  parts.primitive = Conv(*pd);
  parts.arguments = {{DNNL_ARG_SRC, pd->src_desc()}, {DNNL_ARG_WEIGHTS, pd->weights_desc()}};
  if (p.has_bias) parts.arguments.push_back({DNNL_ARG_BIAS, pd->bias_desc()});
  parts.arguments.push_back({DNNL_ARG_DST, pd->dst_desc()});
  AppendPostOpArguments(p.post_ops, parts.arguments);
  parts.scratchpad = pd->scratchpad_desc();
  parts.implementation = pd->impl_info_str();
  parts.weights_layout = LayoutFor(p.weights, pd->weights_desc(), p.threads);
  parts.threads = p.threads;
  return WrapPrimitive(std::move(parts));
}

}  // namespace

bool HasExactInt8() {
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::avx512_core_vnni:
    case dnnl::cpu_isa::avx512_core_bf16:
    case dnnl::cpu_isa::avx512_core_amx:
    case dnnl::cpu_isa::avx2_vnni:
      return true;
    default:
      return false;
  }
}

absl::StatusOr<std::shared_ptr<const Primitive>> GetConvolution(const ConvolutionProblem& problem,
                                                                PrimitiveCache* cache) {
  return GetOrCreate<Primitive>(
      cache, problem, [&problem] { return Guarded([&problem] { return Build(problem); }); });
}

}  // namespace tenon
