#include "primitive_cache/matmul.h"

#include "primitive_cache/dnnl_primitive.h"

namespace tenon {
namespace {

using dnnl::matmul;

matmul::desc Describe(const MatmulProblem& p, const dnnl::memory::desc& weights) {
  if (p.has_bias) {
    return matmul::desc(ToDnnl(p.src), weights, ToDnnl(p.bias), ToDnnl(p.dst));
  }
  return matmul::desc(ToDnnl(p.src), weights, ToDnnl(p.dst));
}

absl::StatusOr<std::shared_ptr<const Primitive>> Build(const MatmulProblem& p) {
  const ThreadScope threads(p.threads);
  const dnnl::primitive_attr attr = Attributes(p.post_ops);
  using Pd = matmul::primitive_desc;
  absl::StatusOr<Pd> pd = Unimplemented("");
  if (p.pack_weights) pd = CompiledImplementation<Pd>(Describe(p, AnyLayout(p.weights)), attr);
  if (!pd.ok()) pd = CompiledImplementation<Pd>(Describe(p, ToDnnl(p.weights)), attr);
  if (!pd.ok()) return pd.status();

  PrimitiveParts parts;
  parts.primitive = matmul(*pd);
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

absl::StatusOr<std::shared_ptr<const Primitive>> GetMatmul(const MatmulProblem& problem,
                                                           PrimitiveCache* cache) {
  return GetOrCreate<Primitive>(
      cache, problem, [&problem] { return Guarded([&problem] { return Build(problem); }); });
}

}  // namespace tenon
