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

struct Geometry {
  dnnl::memory::dims strides, gaps, begin, end;
  explicit Geometry(const ConvolutionProblem& p)
      : strides(ToDnnl(p.strides)),
        gaps(ToDnnl(p.dilations)),
        begin(ToDnnl(p.pads_begin)),
        end(ToDnnl(p.pads_end)) {
    for (auto& g : gaps) --g;  // oneDNN counts the elements skipped
  }
};

Desc BiasDesc(const ConvolutionProblem& p) {
  return Desc({p.dst.dims[1]}, ToDnnl(p.dst.type), dnnl::memory::format_tag::x);
}

Forward::primitive_desc Hint(const ConvolutionProblem& p, const Geometry& g, const Layouts& l) {
  const auto kind = dnnl::prop_kind::forward_training;
  if (p.has_bias) {
    return {
        {kind, kDirect, l.src, l.weights, BiasDesc(p), l.dst, g.strides, g.gaps, g.begin, g.end},
        CpuEngine()};
  }
  return {{kind, kDirect, l.src, l.weights, l.dst, g.strides, g.gaps, g.begin, g.end}, CpuEngine()};
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

BackwardData::desc Describe(const BackwardData*, const ConvolutionProblem&, const Geometry& g,
                            const Layouts& l) {
  return {kDirect, l.src, l.weights, l.dst, g.strides, g.gaps, g.begin, g.end};
}
BackwardWeights::desc Describe(const BackwardWeights*, const ConvolutionProblem& p,
                               const Geometry& g, const Layouts& l) {
  if (!p.has_bias) return {kDirect, l.src, l.weights, l.dst, g.strides, g.gaps, g.begin, g.end};
  return {kDirect, l.src, l.weights, BiasDesc(p), l.dst, g.strides, g.gaps, g.begin, g.end};
}

// The first direct implementation; if there is none, the first compiled one (which uses gemm).
template <typename Backward>
absl::StatusOr<PrimitiveParts> Choose(const ConvolutionProblem& p, Computes computes) {
  using Pd = typename Backward::primitive_desc;
  const dnnl::primitive_attr attr = Attributes({});
  const Geometry g(p);
  const auto sound = [&](absl::string_view name) {
    return RemedyFor(computes, p, name) != Remedy::kRefuse;
  };
  absl::StatusOr<Pd> chosen = Unimplemented("oneDNN has no compiled implementation");
  for (const Layouts& layouts : Candidates(p)) {
    absl::StatusOr<Pd> pd = Guarded([&]() -> absl::StatusOr<Pd> {
      return CompiledImplementation<Pd>(Describe(static_cast<Backward*>(nullptr), p, g, layouts),
                                        attr, sound, Hint(p, g, layouts));
    });
    if (!pd.ok()) continue;
    const bool by_gemm = absl::StrContains(pd->impl_info_str(), "gemm");
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
  TENON_ASSIGN_OR_RETURN(PrimitiveParts parts,
                         p.of == Of::kSource
                             ? Choose<BackwardData>(p.forward, Computes::kSourceGradient)
                             : Choose<BackwardWeights>(p.forward, Computes::kWeightsGradient));
  return WrapWithPlainArguments(std::move(parts), PlainArguments(p));
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Primitive>> GetConvolutionGradient(
    const ConvolutionGradientProblem& problem, PrimitiveCache* cache) {
  return GetOrCreate<Primitive>(
      cache, problem, [&problem] { return Guarded([&problem] { return Build(problem); }); });
}

}  // namespace tenon
