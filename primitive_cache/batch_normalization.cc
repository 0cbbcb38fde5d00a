#include "primitive_cache/batch_normalization.h"

#include "primitive_cache/dnnl_primitive.h"

namespace tenon {
namespace {

using BatchNorm = dnnl::batch_normalization_forward;

absl::StatusOr<std::shared_ptr<const Primitive>> Build(const BatchNormalizationProblem& p) {
  const ThreadScope threads(p.threads);
  using dnnl::normalization_flags;
  const BatchNorm::desc desc(dnnl::prop_kind::forward_inference, ToDnnl(p.src), p.epsilon,
                             normalization_flags::use_global_stats |
                                 normalization_flags::use_scale | normalization_flags::use_shift);
  using Pd = BatchNorm::primitive_desc;
  TENON_ASSIGN_OR_RETURN(const Pd pd, CompiledImplementation<Pd>(desc, Attributes({})));

  PrimitiveParts parts;
  parts.primitive = BatchNorm(pd);
  parts.arguments = {{DNNL_ARG_SRC, pd.src_desc()},           {DNNL_ARG_MEAN, pd.mean_desc()},
                     {DNNL_ARG_VARIANCE, pd.variance_desc()}, {DNNL_ARG_SCALE, pd.weights_desc()},
                     {DNNL_ARG_SHIFT, pd.weights_desc()},     {DNNL_ARG_DST, pd.dst_desc()}};
  parts.scratchpad = pd.scratchpad_desc();
  parts.implementation = pd.impl_info_str();
  parts.threads = p.threads;
  return WrapPrimitive(std::move(parts));
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Primitive>> GetBatchNormalization(
    const BatchNormalizationProblem& problem, PrimitiveCache* cache) {
  return GetOrCreate<Primitive>(
      cache, problem, [&problem] { return Guarded([&problem] { return Build(problem); }); });
}

}  // namespace tenon
