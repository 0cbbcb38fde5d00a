#include "primitive_cache/convolution.h"

#include <algorithm>

#include "primitive_cache/dnnl_primitive.h"
#include "primitive_cache/known_defects.h"

namespace tenon {
namespace {

using Conv = dnnl::convolution_forward;

using Desc = dnnl::memory::desc;

Conv::desc Describe(const ConvolutionProblem& p, dnnl::algorithm algorithm, const Desc& src,
                    const Desc& weights, const Desc& dst) {
  Dims gaps = p.dilations;  // oneDNN counts the elements skipped
  for (int64_t& d : gaps) --d;
  const auto kind = dnnl::prop_kind::forward_inference;
  if (p.has_bias) {
    const ElementType type = p.dst.type == ElementType::kBf16 ? p.dst.type : ElementType::kF32;
    const Desc bias({p.dst.dims[1]}, ToDnnl(type), dnnl::memory::format_tag::x);
    return Conv::desc(kind, algorithm, src, weights, bias, dst, ToDnnl(p.strides), ToDnnl(gaps),
                      ToDnnl(p.pads_begin), ToDnnl(p.pads_end));
  }
  return Conv::desc(kind, algorithm, src, weights, dst, ToDnnl(p.strides), ToDnnl(gaps),
                    ToDnnl(p.pads_begin), ToDnnl(p.pads_end));
}

absl::StatusOr<Conv::primitive_desc> Direct(const ConvolutionProblem& p,
                                            const dnnl::primitive_attr& attr) {
  auto with = [&](const Desc& weights) {
    return CompiledImplementation<Conv::primitive_desc>(
        Describe(p, dnnl::algorithm::convolution_direct, ToDnnl(p.src), weights, ToDnnl(p.dst)),
        attr, [&p](absl::string_view name) {
          return RemedyFor(Computes::kResult, p, name) != Remedy::kRefuse;
        });
  };
  absl::StatusOr<Conv::primitive_desc> pd = with(AnyLayout(p.weights));
  return pd.ok() ? pd : with(ToDnnl(p.weights));
}

// Below this many multiply-adds (counted as for a direct convolution), the transforms cost more
// than they save.
constexpr int64_t kLeastWinogradProducts = 2'000'000;

bool SuitsWinograd(const ConvolutionProblem& p) {
  auto all = [](const Dims& dims, int64_t value) {
    return std::all_of(dims.begin(), dims.end(), [&](int64_t d) { return d == value; });
  };
  if (!p.allow_winograd || p.grouped || p.src.type != ElementType::kF32 ||
      p.dst.type != ElementType::kF32 || !p.scales.empty() || p.src.dims.size() != 4 ||
      p.weights.dims[2] != 3 || p.weights.dims[3] != 3 || !all(p.strides, 1) ||
      !all(p.dilations, 1) || p.has_binary_post_op()) {
    return false;
  }
  return p.dst.num_elements() * p.weights.dims[1] * 9 >= kLeastWinogradProducts;
}

// Winograd with its own layouts; tensors in the caller's layouts are reordered on the way in and
// out.
absl::StatusOr<Conv::primitive_desc> Winograd(const ConvolutionProblem& p,
                                              const dnnl::primitive_attr& attr) {
  return Guarded([&] {
    return CompiledImplementation<Conv::primitive_desc>(
        Describe(p, dnnl::algorithm::convolution_winograd, AnyLayout(p.src), AnyLayout(p.weights),
                 AnyLayout(p.dst)),
        attr, AcceptAll);
  });
}

absl::StatusOr<std::shared_ptr<const Primitive>> Build(const ConvolutionProblem& p) {
  const ThreadScope threads(p.threads);
  dnnl::primitive_attr attr = Attributes(p.post_ops);
  if (!p.scales.empty()) attr.set_output_scales(p.scales.size() == 1 ? 0 : 1 << 1, p.scales);
  if (p.src_zero != 0) attr.set_zero_points(DNNL_ARG_SRC, 0, {p.src_zero});
  if (p.dst_zero != 0) attr.set_zero_points(DNNL_ARG_DST, 0, {p.dst_zero});
  absl::StatusOr<Conv::primitive_desc> pd = Unimplemented("no suitable convolution");
  if (SuitsWinograd(p)) pd = Winograd(p, attr);
  if (!pd.ok()) pd = Direct(p, attr);
  if (!pd.ok()) return pd.status();

  PrimitiveParts parts;
  parts.primitive = Conv(*pd);
  parts.arguments = {{DNNL_ARG_SRC, pd->src_desc()}, {DNNL_ARG_WEIGHTS, pd->weights_desc()}};
  if (p.has_bias) parts.arguments.push_back({DNNL_ARG_BIAS, pd->bias_desc()});
  const size_t dst = parts.arguments.size();
  parts.arguments.push_back({DNNL_ARG_DST, pd->dst_desc()});
  AppendPostOpArguments(p.post_ops, parts.arguments);
  parts.scratchpad = pd->scratchpad_desc();
  parts.implementation = pd->impl_info_str();
  parts.weights_layout = LayoutFor(p.weights, pd->weights_desc(), p.threads);
  parts.threads = p.threads;
  using Use = PlainArgument::Use;
  return WrapWithPlainArguments(
      std::move(parts), {{0, p.src, Use::kRead},
                         {dst, p.dst, p.adds_to_destination() ? Use::kUpdated : Use::kWritten}});
}

}  // namespace

bool ConvolutionProblem::adds_to_destination() const {
  return std::any_of(post_ops.begin(), post_ops.end(),
                     [](const PostOpSpec& op) { return op.kind == PostOpSpec::Kind::kSum; });
}

bool ConvolutionProblem::has_binary_post_op() const {
  return std::any_of(post_ops.begin(), post_ops.end(),
                     [](const PostOpSpec& op) { return op.binary(); });
}

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
