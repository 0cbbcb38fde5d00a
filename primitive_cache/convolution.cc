#include "primitive_cache/convolution.h"

#include <algorithm>
#include <string>

#include "env/cpu.h"
#include "primitive_cache/dnnl_primitive.h"
#include "primitive_cache/known_defects.h"

namespace tenon {
namespace {

using Conv = dnnl::convolution_forward;

using Desc = dnnl::memory::desc;

absl::StatusOr<Conv::primitive_desc> Find(const ConvolutionProblem& p, dnnl::algorithm algorithm,
                                          const Desc& src, const Desc& weights, const Desc& dst,
                                          const dnnl::primitive_attr& attr, onednn::Accept accept) {
  onednn::ConvolutionDescs descs = DescribeConvolution(p, src, weights, dst);
  if (p.has_bias) {
    const ElementType type = p.dst.type == ElementType::kBf16 ? p.dst.type : ElementType::kF32;
    descs.bias = Desc({p.dst.dims[1]}, ToDnnl(type), dnnl::memory::format_tag::x);
  }
  return Found(
      onednn::Convolution(dnnl::prop_kind::forward_inference, algorithm, descs, attr, accept));
}

// Whether a pointwise float convolution is faster with vectors of 8 channels, on a CPU that
// multiplies as fast with either. It is where half of the last vector of 16 would stay empty (24
// channels), and where few input channels are reduced, so that most of the time goes into writing
// results. Measured on Zen 4, one thread, for 8 to 1024 channels and 49 to 12544 positions: 5 to
// 35 % less time where this says so, at most 17 % more where it does not.
bool SuitsNarrowVectors(const ConvolutionProblem& p) {
  const bool pointwise = std::all_of(p.weights.dims.begin() + 2, p.weights.dims.end(),
                                     [](int64_t d) { return d == 1; });
  if (p.grouped || !pointwise || !All(p.strides, 1) || p.dst.num_elements() == 0) return false;
  const int64_t in = p.src.dims[1], out = p.dst.dims[1];
  const bool many_positions = p.dst.num_elements() / out >= 700;
  const bool half_empty = out % 16 >= 1 && out % 16 <= 8 && out < (many_positions ? 150 : 80);
  const bool reduces_little = out >= 64 && in <= (many_positions ? 112 : 48);
  return half_empty || reduces_little;
}

bool IsSmallDepthwise(const ConvolutionProblem& p) {
  return p.grouped && p.weights.dims[1] == 1 && p.weights.dims[2] == 1 &&
         std::all_of(p.weights.dims.begin() + 3, p.weights.dims.end(),
                     [](int64_t d) { return d <= 5; });
}

// A part of the name of the implementation to be taken if there is one; "": oneDNN's first choice,
// which is made for CPUs that compute 512-bit vectors in one piece. On Zen 4, its older kernel for
// depthwise convolutions of at most 5x5 needs 0 to 40 % less time than the first one in float, 3 to
// 15 % less in bfloat16 (of 7x7, the same within whole models).
absl::string_view Preferred(const ConvolutionProblem& p) {
  auto all = [&p](ElementType type) {
    return p.src.type == type && p.weights.type == type && p.dst.type == type;
  };
  const bool all_float = all(ElementType::kF32);
  if ((!all_float && !all(ElementType::kBf16)) || !Halves512BitVectors()) return "";
  if (IsSmallDepthwise(p)) return "jit_dw:avx512_core";
  return all_float && SuitsNarrowVectors(p) ? "jit_1x1:avx2" : "";
}

absl::StatusOr<Conv::primitive_desc> Direct(const ConvolutionProblem& p,
                                            const dnnl::primitive_attr& attr) {
  auto with = [&](const Desc& weights, absl::string_view part_of_name) {
    return Find(p, dnnl::algorithm::convolution_direct, ToDnnl(p.src), weights, ToDnnl(p.dst), attr,
                [&](absl::string_view name) {
                  return IsCompiled(name) && absl::StrContains(name, part_of_name) &&
                         RemedyFor(Computes::kResult, p, name) != Remedy::kRefuse;
                });
  };
  if (const absl::string_view preferred = Preferred(p); !preferred.empty()) {
    absl::StatusOr<Conv::primitive_desc> pd = with(AnyLayout(p.weights), preferred);
    if (pd.ok()) return pd;
  }
  absl::StatusOr<Conv::primitive_desc> pd = with(AnyLayout(p.weights), "");
  return pd.ok() ? pd : with(ToDnnl(p.weights), "");
}

// Below this many multiply-adds (counted as for a direct convolution), the transforms cost more
// than they save.
constexpr int64_t kLeastWinogradProducts = 2'000'000;

bool SuitsWinograd(const ConvolutionProblem& p) {
  if (!p.allow_winograd || p.grouped || p.src.type != ElementType::kF32 ||
      p.dst.type != ElementType::kF32 || !p.scales.empty() || p.src.dims.size() != 4 ||
      p.weights.dims[2] != 3 || p.weights.dims[3] != 3 || !All(p.strides, 1) ||
      !All(p.dilations, 1) || p.has_binary_post_op()) {
    return false;
  }
  return p.dst.num_elements() * p.weights.dims[1] * 9 >= kLeastWinogradProducts;
}

// Winograd with its own layouts; tensors in the caller's layouts are reordered on the way in and
// out.
absl::StatusOr<Conv::primitive_desc> Winograd(const ConvolutionProblem& p,
                                              const dnnl::primitive_attr& attr) {
  return Guarded([&] {
    return Find(p, dnnl::algorithm::convolution_winograd, AnyLayout(p.src), AnyLayout(p.weights),
                AnyLayout(p.dst), attr, IsCompiled);
  });
}

// What follows packed weights of 8-bit integers, so that sources that are signed or have a zero
// point can be corrected.
std::string SumsOfWeights(const ConvolutionProblem& p) {
  if (p.weights.type != ElementType::kS8) return "";
  return absl::StrCat("+", p.src.type == ElementType::kS8 ? "signed" : "",
                      p.src_zero != 0 ? "zero" : "");
}

absl::StatusOr<std::shared_ptr<const Primitive>> Build(const ConvolutionProblem& p) {
  if (SearchesTooLong(Computes::kResult, p)) return Unimplemented("a line of too many pixels");
  const ThreadScope threads(p.threads);
  PostOps post_ops = MakePostOps(p.post_ops);
  PrimitiveParts parts;
  parts.constants = onednn::SetQuantization(
      {.scales = p.scales, .grouped = p.grouped, .src_zero = p.src_zero, .dst_zero = p.dst_zero},
      post_ops.attr);
  absl::StatusOr<Conv::primitive_desc> pd = Unimplemented("no suitable convolution");
  if (SuitsWinograd(p)) pd = Winograd(p, post_ops.attr);
  if (!pd.ok()) pd = Direct(p, post_ops.attr);
  if (!pd.ok()) return pd.status();

  parts.primitive = Conv(*pd);
  parts.arguments = {{DNNL_ARG_SRC, pd->src_desc()}, {DNNL_ARG_WEIGHTS, pd->weights_desc()}};
  const size_t bias = parts.arguments.size();
  if (p.has_bias) parts.arguments.push_back({DNNL_ARG_BIAS, pd->bias_desc()});
  const size_t dst = parts.arguments.size();
  parts.arguments.push_back({DNNL_ARG_DST, pd->dst_desc()});
  Append(post_ops.arguments, parts.arguments);
  parts.scratchpad = pd->scratchpad_desc();
  parts.implementation = pd->impl_info_str();
  parts.weights_layout = LayoutFor(p.weights, pd->weights_desc(), p.threads, SumsOfWeights(p));
  parts.threads = p.threads;
  using Use = PlainArgument::Use;
  TENON_ASSIGN_OR_RETURN(
      std::shared_ptr<const Primitive> made,
      WrapWithPlainArguments(
          std::move(parts),
          {{0, p.src, Use::kRead},
           {dst, p.dst, p.adds_to_destination() ? Use::kUpdated : Use::kWritten}}));
  if (!p.has_bias || p.scales.empty() || onednn::ScalesMultiplyBias()) return made;
  return WrapWithScaledArgument(std::move(made), bias, static_cast<size_t>(p.dst.dims[1]),
                                p.scales);
}

}  // namespace

onednn::ConvolutionDescs DescribeConvolution(const ConvolutionProblem& p, const Desc& src,
                                             const Desc& weights, const Desc& dst) {
  Dims gaps = p.dilations, strides = p.strides;
  for (size_t d = 0; d < gaps.size(); ++d) {
    const int64_t range = p.window_range(d);
    gaps[d] = range == 1 ? 0 : gaps[d] - 1;  // oneDNN counts the elements skipped
    // One step needs no stride, and some of oneDNN's code generators crash for one of 2^25.
    const int64_t last = p.src.dims[2 + d] + p.pads_begin[d] + p.pads_end[d] - range;
    if (p.dst.dims[2 + d] == 1) strides[d] = std::min(strides[d], last + 1);
  }
  return {.src = src,
          .weights = weights,
          .bias = {},
          .dst = dst,
          .strides = ToDnnl(strides),
          .gaps = ToDnnl(gaps),
          .pads_begin = ToDnnl(p.pads_begin),
          .pads_end = ToDnnl(p.pads_end)};
}

bool ConvolutionProblem::adds_to_destination() const {
  return std::any_of(post_ops.begin(), post_ops.end(),
                     [](const PostOpSpec& op) { return op.kind == PostOpSpec::Kind::kSum; });
}

bool ConvolutionProblem::has_binary_post_op() const {
  return std::any_of(post_ops.begin(), post_ops.end(),
                     [](const PostOpSpec& op) { return op.binary(); });
}

absl::StatusOr<std::shared_ptr<const Primitive>> GetConvolution(const ConvolutionProblem& problem,
                                                                PrimitiveCache* cache) {
  return GetOrCreate<Primitive>(
      cache, problem, [&problem] { return Guarded([&problem] { return Build(problem); }); });
}

}  // namespace tenon
