#include "primitive_cache/pooling.h"

#include "primitive_cache/dnnl_primitive.h"

namespace tenon {
namespace {

using Pool = dnnl::pooling_forward;

absl::StatusOr<std::shared_ptr<const Primitive>> Build(const PoolingProblem& p) {
  const ThreadScope threads(p.threads);
  const auto algorithm = p.kind == PoolingProblem::Kind::kMax
                             ? dnnl::algorithm::pooling_max
                             : dnnl::algorithm::pooling_avg_exclude_padding;
  const onednn::PoolingDescs descs{ToDnnl(p.src),    ToDnnl(p.dst),        ToDnnl(p.strides),
                                   ToDnnl(p.window), ToDnnl(p.pads_begin), ToDnnl(p.pads_end)};
  TENON_ASSIGN_OR_RETURN(
      const Pool::primitive_desc pd,
      Found(onednn::Pooling(algorithm, descs, MakePostOps({}).attr, IsCompiled)));

  PrimitiveParts parts;
  parts.primitive = Pool(pd);
  parts.arguments = {{DNNL_ARG_SRC, pd.src_desc()}, {DNNL_ARG_DST, pd.dst_desc()}};
  parts.scratchpad = pd.scratchpad_desc();
  parts.implementation = pd.impl_info_str();
  parts.threads = p.threads;
  return WrapPrimitive(std::move(parts));
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Primitive>> GetPooling(const PoolingProblem& problem,
                                                            PrimitiveCache* cache) {
  return GetOrCreate<Primitive>(
      cache, problem, [&problem] { return Guarded([&problem] { return Build(problem); }); });
}

}  // namespace tenon
