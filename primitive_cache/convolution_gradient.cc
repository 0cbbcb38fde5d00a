#include "primitive_cache/convolution_gradient.h"

#include "primitive_cache/dnnl_primitive.h"
#include "primitive_cache/known_defects.h"

namespace tenon {
namespace {

using Forward = dnnl::convolution_forward;
using BackwardData = dnnl::convolution_backward_data;
using BackwardWeights = dnnl::convolution_backward_weights;
using Desc = dnnl::memory::desc;
using Of = ConvolutionGradientProblem::Of;

constexpr auto kDirect = dnnl::algorithm::convolution_direct;

// Layouts to request from an implementation.
struct Layouts {
  Desc src, weights, dst;
};

TensorDesc ChannelsLast(const TensorDesc& d) {
  TensorDesc last = d;
  int64_t stride = d.dims[1];
  last.strides[1] = 1;
  for (size_t i = d.dims.size(); i-- > 2;) {
    last.strides[i] = stride;
    stride *= d.dims[i];
  }
  last.strides[0] = stride;
  return last;
}

// In order of preference. If only one activation were left to the implementation's choice, oneDNN
// 2.6.3 would use plain loops.
std::vector<Layouts> Candidates(const ConvolutionProblem& p) {
  const Desc src = ToDnnl(p.src), dst = ToDnnl(p.dst), any = AnyLayout(p.weights);
  const Desc src_last = ToDnnl(ChannelsLast(p.src)), dst_last = ToDnnl(ChannelsLast(p.dst));
  std::vector<Layouts> candidates{{src, any, dst}};
  if (src_last != src || dst_last != dst) candidates.push_back({src_last, any, dst_last});
  candidates.push_back({AnyLayout(p.src), any, AnyLayout(p.dst)});
  candidates.push_back({src, ToDnnl(p.weights), dst});
  return candidates;
}

onednn::ConvolutionDescs Describe(const ConvolutionProblem& p, const Layouts& l) {
  onednn::ConvolutionDescs descs = DescribeConvolution(p, l.src, l.weights, l.dst);
  if (p.has_bias) {
    descs.bias = Desc({p.dst.dims[1]}, ToDnnl(p.dst.type), dnnl::memory::format_tag::x);
  }
  return descs;
}

PrimitiveParts PartsOf(const BackwardData::primitive_desc& pd, const ConvolutionProblem& p) {
  PrimitiveParts parts;
  parts.primitive = BackwardData(pd);
  parts.arguments = {{DNNL_ARG_DIFF_DST, pd.diff_dst_desc()},
                     {DNNL_ARG_WEIGHTS, pd.weights_desc()},
                     {DNNL_ARG_DIFF_SRC, pd.diff_src_desc()}};
  parts.weights_layout = LayoutFor(p.weights, pd.weights_desc(), p.threads);
  return parts;
}

PrimitiveParts PartsOf(const BackwardWeights::primitive_desc& pd, const ConvolutionProblem& p) {
  PrimitiveParts parts;
  parts.primitive = BackwardWeights(pd);
  parts.arguments = {{DNNL_ARG_SRC, pd.src_desc()},
                     {DNNL_ARG_DIFF_DST, pd.diff_dst_desc()},
                     {DNNL_ARG_DIFF_WEIGHTS, pd.diff_weights_desc()}};
  if (p.has_bias) parts.arguments.push_back({DNNL_ARG_DIFF_BIAS, pd.diff_bias_desc()});
  return parts;
}

std::vector<PlainArgument> PlainArguments(const ConvolutionGradientProblem& p) {
  using Use = PlainArgument::Use;
  const ConvolutionProblem& f = p.forward;
  if (p.of == Of::kSource) return {{0, f.dst, Use::kRead}, {2, f.src, Use::kWritten}};
  return {{0, f.src, Use::kRead}, {1, f.dst, Use::kRead}, {2, f.weights, Use::kWritten}};
}

// The first direct implementation; if there is none, the first compiled one (which uses gemm).
// `gradient` is the function of onednn.h that describes it.
template <typename Pd>
absl::StatusOr<PrimitiveParts> Choose(const ConvolutionProblem& p, Computes computes,
                                      Pd (*gradient)(const onednn::ConvolutionDescs&,
                                                     const dnnl::primitive_attr&,
                                                     const Forward::primitive_desc&,
                                                     onednn::Accept)) {
  if (SearchesTooLong(computes, p)) return Unimplemented("a line of too many pixels");
  const dnnl::primitive_attr attr = MakePostOps({}).attr;
  const auto sound = [&](absl::string_view name) {
    return IsCompiled(name) && RemedyFor(computes, p, name) != Remedy::kRefuse;
  };
  absl::StatusOr<Pd> chosen = Unimplemented("oneDNN has no compiled implementation");
  for (const Layouts& layouts : Candidates(p)) {
    absl::StatusOr<Pd> pd = Guarded([&]() -> absl::StatusOr<Pd> {
      const onednn::ConvolutionDescs descs = Describe(p, layouts);
      const auto forward = onednn::Convolution(dnnl::prop_kind::forward_training, kDirect, descs,
                                               {}, onednn::AcceptAll);
      if (!forward) return Unimplemented("oneDNN has no forward convolution");
      return Found(gradient(descs, attr, forward, sound));
    });
    if (!pd.ok()) continue;
    const bool by_gemm = UsesGemm(pd->impl_info_str());
    if (!chosen.ok() || !by_gemm) chosen = std::move(pd);
    if (!by_gemm) break;
  }
  if (!chosen.ok()) return chosen.status();
  PrimitiveParts parts = PartsOf(*chosen, p);
  parts.scratchpad = chosen->scratchpad_desc();
  parts.implementation = chosen->impl_info_str();
  parts.threads = p.threads;
  parts.clear_scratch = RemedyFor(computes, p, parts.implementation) == Remedy::kClearScratch;
  return parts;
}

absl::StatusOr<std::shared_ptr<const Primitive>> Build(const ConvolutionGradientProblem& p) {
  const ThreadScope threads(p.forward.threads);
  TENON_ASSIGN_OR_RETURN(
      PrimitiveParts parts,
      p.of == Of::kSource
          ? Choose(p.forward, Computes::kSourceGradient, &onednn::SourceGradient)
          : Choose(p.forward, Computes::kWeightsGradient, &onednn::WeightsGradient));
  return WrapWithPlainArguments(std::move(parts), PlainArguments(p));
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Primitive>> GetConvolutionGradient(
    const ConvolutionGradientProblem& problem, PrimitiveCache* cache) {
  return GetOrCreate<Primitive>(
      cache, problem, [&problem] { return Guarded([&problem] { return Build(problem); }); });
}

}  // namespace tenon
