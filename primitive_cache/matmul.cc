#include "primitive_cache/matmul.h"

#include "primitive_cache/convolution.h"
#include "primitive_cache/dnnl_primitive.h"
#include "primitive_cache/gemm.h"

namespace tenon {
namespace {

using dnnl::matmul;

absl::StatusOr<matmul::primitive_desc> Choose(const MatmulProblem& p,
                                              const dnnl::memory::desc& weights,
                                              const dnnl::primitive_attr& attr) {
  const auto bias = p.has_bias ? ToDnnl(p.bias) : dnnl::memory::desc();
  return Found(onednn::Matmul(ToDnnl(p.src), weights, bias, ToDnnl(p.dst), attr, IsCompiled));
}

// [m, n] as an image with one column: 1 x n channels x m x 1, channels last.
TensorDesc AsImage(const TensorDesc& d) {
  const int64_t row = d.strides[0];
  return {d.type, {1, d.dims[1], d.dims[0], 1}, {row * d.dims[0], d.strides[1], row, row}};
}

bool IsDense(const TensorDesc& d) { return d.strides == DenseStrides(d.dims); }

// Computes a product with packed weights as a convolution with 1x1 filters. Below AVX-512, oneDNN's
// matmul is its gemm, which is half as fast if rows are multiples of 4 KiB apart (768 x 3072).
absl::StatusOr<std::shared_ptr<const Primitive>> BuildAsConvolution(const MatmulProblem& p) {
  if (p.src.dims.size() != 2 || p.src.dims[0] < 16 || !IsDense(p.src) || !IsDense(p.dst)) {
    return Unimplemented("not a convolution");
  }
  if (p.has_bias && p.bias.dims[0] != 1) return Unimplemented("not a bias per channel");
  ConvolutionProblem c;
  c.src = AsImage(p.src);
  c.dst = AsImage(p.dst);
  const TensorDesc& w = p.weights;
  c.weights = {w.type, {w.dims[1], w.dims[0], 1, 1}, {w.strides[1], w.strides[0], 1, 1}};
  c.weights.strides[2] = c.weights.strides[3] = w.dims[0] * w.dims[1];
  c.has_bias = p.has_bias;
  c.strides = c.dilations = {1, 1};
  c.pads_begin = c.pads_end = {0, 0};
  for (PostOpSpec post_op : p.post_ops) {
    if (post_op.binary()) {
      if (!IsDense(post_op.operand)) return Unimplemented("an operand that is not dense");
      post_op.operand = AsImage(post_op.operand);
    }
    c.post_ops.push_back(std::move(post_op));
  }
  c.threads = p.threads;
  return GetConvolution(c, nullptr);
}

absl::StatusOr<std::shared_ptr<const Primitive>> Build(const MatmulProblem& p) {
  if (auto gemm = GemmFor(p); gemm != nullptr) return gemm;
  const ThreadScope threads(p.threads);
  PostOps post_ops = MakePostOps(p.post_ops);
  absl::StatusOr<matmul::primitive_desc> pd = Unimplemented("");
  if (p.pack_weights) pd = Choose(p, AnyLayout(p.weights), post_ops.attr);
  if (!pd.ok()) pd = Choose(p, ToDnnl(p.weights), post_ops.attr);
  if (!pd.ok()) return pd.status();

  if (p.pack_weights && UsesGemm(pd->impl_info_str())) {
    auto convolution = BuildAsConvolution(p);
    if (convolution.ok() && !UsesGemm((*convolution)->implementation())) {
      return convolution;
    }
  }

  PrimitiveParts parts;
  parts.primitive = matmul(*pd);
  parts.arguments = {{DNNL_ARG_SRC, pd->src_desc()}, {DNNL_ARG_WEIGHTS, pd->weights_desc()}};
  if (p.has_bias) parts.arguments.push_back({DNNL_ARG_BIAS, pd->bias_desc()});
  parts.arguments.push_back({DNNL_ARG_DST, pd->dst_desc()});
  Append(post_ops.arguments, parts.arguments);
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
