#include "kernels/matmul/matmul.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "env/cpu.h"
#include "env/status.h"
#include "kernels/contraction/contraction.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/matmul/bfloat16_kernel.h"
#include "kernels/matmul/blocked_kernel.h"
#include "kernels/matmul/blocked_product_simd.h"
#include "kernels/matmul/one_operand.h"
#include "kernels/matmul/panel_kernel.h"
#include "kernels/matmul/rearranged_product.h"
#include "kernels/matmul/row_kernel.h"
#include "kernels/matmul/small_product.h"
#include "kernels/matmul/tile_kernel.h"
#include "kernels/matmul/vector_product.h"
#include "primitive_cache/weight_panels.h"

namespace tenon {
namespace {

class ProductKernel final : public Kernel {
 public:
  ProductKernel(const PrepareContext& p, LabeledProduct product, const FusedOps& fused,
                ProductCode code)
      : product_(std::move(product)),
        a_type_(p.input_dtype(0)),
        b_type_(product_.has_b ? p.input_dtype(1) : p.input_dtype(0)),
        out_type_(p.output_dtype(0)),
        fused_(p, fused, p.output_shape(0).rank() - 1),
        code_(code),
        threads_(p.services().threads) {}

  absl::Status Run(RunContext& r) const override {
    TENON_RETURN_IF_ERROR(RunProductReference(product_, a_type_, b_type_, out_type_, r.input(0),
                                              product_.has_b ? r.input(1) : nullptr, r.output(0),
                                              threads_, code_));
    fused_.Run(r, r.output(0));
    return absl::OkStatus();
  }
  double Flops() const override { return product_.flops(); }
  std::string Implementation() const override {
    return code_ == ProductCode::kEigen ? Kernel::Implementation()
                                        : absl::StrCat("vector:", VectorTargetName());
  }

 private:
  const LabeledProduct product_;
  const DType a_type_, b_type_, out_type_;
  const FusedPass fused_;
  const ProductCode code_;
  const int threads_;
};

// Few rows are multiplied by our own loops. They read the layout that oneDNN chooses for this many
// rows, so that plans for prompts and for single tokens share one copy.
constexpr int64_t kManyRows = 128;

// Whether oneDNN's kernel for many rows rounds more than TensorFlow's products, which sum parts of
// up to 384 terms with AVX-512 and 256 with AVX2. oneDNN's brgemm sums parts of 512, or of 1024 for
// more than 1024 terms; the other kernels have no parts. The error of parts is that of one sum
// whose length is their mean, weighted by their lengths.
bool SumsTooLong(const Primitive& primitive, int64_t terms) {
  if (!absl::StartsWith(primitive.implementation(), "brg")) return terms > 256;
  if (terms <= 512) return terms > 384;
  const int64_t part = terms > 1024 ? 1024 : 512, rest = terms % part;
  constexpr int64_t kMostTerms = 450;
  return terms / part * part * part + rest * rest > kMostTerms * terms;
}

// Whether few rows share large weights, which oneDNN's kernels for AVX-512 do not prefetch: 24 or
// 49 rows of 768 x 3072 take 11 % longer with them than with our loops, BERT-base with 128 tokens 2
// %; with 197 rows there is no difference (Zen 4).
bool WaitsForWeights(const Primitive& primitive, const PanelSums& product) {
  constexpr int64_t kMostRows = 160, kLeastWeights = int64_t{1} << 19;
  return absl::StartsWith(primitive.implementation(), "brg:avx512") && product.m <= kMostRows &&
         product.n * product.k >= kLeastWeights;
}

bool IsDense(const TensorDesc& d) { return d.strides == DenseStrides(d.dims); }
bool IsTransposed(const TensorDesc& d) { return d.strides[0] == 1 && d.strides[1] == d.dims[0]; }
bool IsMatrixByConstant(const MatmulProblem& p) {
  return p.pack_weights && p.src.dims.size() == 2 && IsDense(p.src) && IsDense(p.dst);
}

absl::StatusOr<std::unique_ptr<Kernel>> Bfloat16Kernel(PrepareContext& p, const MatmulProblem& m,
                                                       const FusedOps& fused) {
  if (m.src.type != ElementType::kBf16 || !IsMatrixByConstant(m)) {
    return Unimplemented("not two matrices of bfloat16, one of them constant");
  }
  const bool transposed = IsTransposed(m.weights);
  if (!transposed && !IsDense(m.weights)) return Unimplemented("weights with gaps");
  Bfloat16Dense product;
  product.rows = static_cast<size_t>(m.src.dims[0]);
  product.terms = static_cast<size_t>(m.src.dims[1]);
  product.columns = static_cast<size_t>(m.dst.dims[1]);
  product.transposed = transposed;
  return Bfloat16DenseKernel(p, std::move(product), fused);
}

absl::StatusOr<std::unique_ptr<Kernel>> PackedKernel(PrepareContext& p, const MatmulProblem& few,
                                                     const FusedOps& fused) {
  if (few.src.type != ElementType::kF32 || !IsMatrixByConstant(few)) {
    return Unimplemented("not two matrices of floats, one of them constant");
  }
  const bool transposed = IsTransposed(few.weights);
  if (transposed || IsDense(few.weights)) {
    RowsByMatrix product;
    product.m = few.src.dims[0];
    product.n = few.dst.dims[1];
    product.k = few.src.dims[1];
    product.transposed = transposed;
    product.most_bytes = SecondLevelCacheBytes() / 2;
    auto rows = RowKernel(p, product, fused);
    if (rows.ok() || !absl::IsUnimplemented(rows.status())) return rows;
  }
  MatmulProblem many = few;
  many.src.dims[0] = many.dst.dims[0] = kManyRows;
  many.threads = p.services().threads;
  TENON_ASSIGN_OR_RETURN(const auto primitive, GetMatmul(many, p.services().cache));
  const auto layout = primitive->weights_layout();
  const auto panels = layout == nullptr ? std::nullopt : PanelsIn(*layout);
  if (!panels.has_value()) return Unimplemented("the weights are not packed into panels");
  const PanelSums product{few.src.dims[0], few.dst.dims[1], few.src.dims[1], *panels, few.threads};
  if (product.m > kFewRows) {
    auto tiles = TileKernel(p, product, layout, fused);
    if (tiles.ok() || !absl::IsUnimplemented(tiles.status())) return tiles;
    if (!SumsTooLong(*primitive, product.k) && !WaitsForWeights(*primitive, product)) {
      return Unimplemented("oneDNN is as fast and exact");
    }
    return BlockedKernel(p, product, layout, fused);
  }
  return FewRowsKernel(p, product, layout, fused);
}

// The loops that are faster than oneDNN's kernels for a batch of small products, such as the
// attention of a single token; nothing if there are none. oneDNN leaves most of a tile empty. Of
// [12, m, 64] by [12, 129, 64], transposed, it takes 1 to 2.5 times as long for m up to 4; by
// [12, 129, 64], 1.2 times for m = 1 and .85 for 2; of 2,000 products of m by 4 and 4 by 4, 1.6 to
// 12 times (Zen 4).
std::optional<VectorLoops> LoopsForBatch(const MatmulProblem& p) {
  const size_t rank = p.dst.dims.size();
  if (rank < 3) return std::nullopt;
  const int64_t m = p.dst.dims[rank - 2], n = p.dst.dims[rank - 1], k = p.src.dims[rank - 1];
  constexpr int64_t kTiny = 128, kFew = 4;
  if (m == 1 || n == 1 || m * n * k <= kTiny) return VectorLoops::kDotsOrElements;
  if (m <= kFew || n <= kFew) return VectorLoops::kDots;
  return std::nullopt;
}

// The product of the operands as they lie in memory.
absl::StatusOr<std::unique_ptr<Kernel>> ProductInPlace(PrepareContext& p,
                                                       const LabeledProduct& product,
                                                       const FusedOps& fused) {
  TENON_ASSIGN_OR_RETURN(const ElementType type, ElementTypeOf(p.output_dtype(0)));
  const Shape output = p.output_shape(0);
  if (output.num_elements() == 0 || p.input_shape(0).num_elements() == 0 ||
      p.input_shape(1).num_elements() == 0) {
    return ZeroContraction(p, fused, output.rank() - 1);
  }
  absl::StatusOr<LoweredProduct> lowering = LowerProduct(product, type);
  if (IsElementwiseProduct(product) || absl::IsUnimplemented(lowering.status())) {
    auto vectors = VectorProductKernel(p, product, fused);
    if (vectors.ok() || !absl::IsUnimplemented(vectors.status())) return vectors;
  }
  if (!lowering.ok()) return lowering.status();
  LoweredProduct& lowered = *lowering;
  Contraction c;
  c.src_input = lowered.swapped ? 1 : 0;
  c.weights_input = lowered.swapped ? 0 : 1;
  MatmulProblem& problem = lowered.problem;
  if (const auto loops = LoopsForBatch(problem)) {
    auto vectors = VectorProductKernel(p, product, fused, *loops);
    if (vectors.ok() || !absl::IsUnimplemented(vectors.status())) return vectors;
  }
  problem.pack_weights = p.constant(c.weights_input) != nullptr;
  problem.threads =
      ThreadsWorth(p.services().threads, product.flops(),
                   static_cast<size_t>(problem.weights.num_elements()) * SizeOf(type));
  auto small = SmallProductKernel(p, problem, c.src_input, c.weights_input, fused);
  if (small.ok() || !absl::IsUnimplemented(small.status())) return small;
  // Whether the columns of the product are the output's last dimension, and not several of them.
  const bool columns_are_last = lowered.out_axes.back().size() == 1 && output.rank() > 0 &&
                                lowered.out_axes.back()[0] == output.rank() - 1;
  const bool has_operands =
      std::any_of(fused.begin(), fused.end(), [](const FusedOp& op) { return op.input >= 0; });
  // It takes a bias and operands by column.
  if (!lowered.swapped && (columns_are_last || !has_operands)) {
    auto tiles = Bfloat16Kernel(p, problem, fused);
    if (tiles.ok() || !absl::IsUnimplemented(tiles.status())) return tiles;
    auto packed = PackedKernel(p, problem, fused);
    if (packed.ok() || !absl::IsUnimplemented(packed.status())) return packed;
  }
  c.get = [problem, cache = p.services().cache](bool has_bias,
                                                const std::vector<PostOpSpec>& post_ops) {
    MatmulProblem with = problem;
    if (has_bias) {
      with.has_bias = true;
      with.bias.type = problem.dst.type;
      with.bias.dims.assign(problem.dst.dims.size(), 1);
      with.bias.dims.back() = problem.dst.dims.back();
      with.bias.strides.assign(with.bias.dims.size(), with.bias.dims.back());
      with.bias.strides.back() = 1;
    }
    with.post_ops = post_ops;
    return GetMatmul(with, cache);
  };
  // A bias is along the output's last dimension.
  c.native_bias = columns_are_last;
  c.fused = fused;
  c.channel_axis = output.rank() - 1;
  c.operand = [lowered, output](const FusedOp&, const Shape& operand) {
    return LowerOperand(lowered, output, operand);
  };
  c.flops = product.flops();
  auto contraction = PrepareContraction(p, std::move(c));
  if (!absl::IsUnimplemented(contraction.status())) return contraction;
  // Strides that oneDNN has no compiled kernel for.
  auto vectors = VectorProductKernel(p, product, fused);
  return absl::IsUnimplemented(vectors.status()) ? std::move(contraction) : std::move(vectors);
}

// The product in place, or of transposed operands.
absl::StatusOr<std::unique_ptr<Kernel>> ProductOfMatrices(PrepareContext& p,
                                                          const LabeledProduct& product,
                                                          const FusedOps& fused) {
  auto kernel = ProductInPlace(p, product, fused);
  if (!absl::IsUnimplemented(kernel.status())) return kernel;
  const auto type = ElementTypeOf(p.output_dtype(0));
  if (!type.ok()) return kernel;
  auto rearranged = RearrangedProductKernel(p, product, fused, *type, &ProductInPlace);
  return absl::IsUnimplemented(rearranged.status()) ? std::move(kernel) : std::move(rearranged);
}

}  // namespace

absl::StatusOr<FusedOps> ProductFusedOps(const AttrReader& attrs, int num_inputs) {
  if (!attrs.node().attrs.contains("fused_ops")) return FusedOps();
  return ParseFusedOps(attrs, num_inputs - static_cast<int>(attrs.Int("num_args", 0)), num_inputs);
}

absl::StatusOr<std::unique_ptr<Kernel>> ProductReferenceKernel(PrepareContext& p,
                                                               LabeledProduct product,
                                                               const FusedOps& fused) {
  return std::make_unique<ProductKernel>(p, std::move(product), fused, ProductCode::kEigen);
}

absl::StatusOr<std::unique_ptr<Kernel>> ProductOnednnKernel(PrepareContext& p,
                                                            LabeledProduct product,
                                                            FusedOps fused) {
  const DType dtype = p.output_dtype(0);
  const bool complex = dtype == DType::kComplex64 || dtype == DType::kComplex128;
  if ((dtype == DType::kDouble || complex) && product.has_b) {
    return std::make_unique<ProductKernel>(p, std::move(product), fused, ProductCode::kVectors);
  }
  if (!product.has_b) return OneOperandKernel(p, product, fused);
  auto kernel = ProductOfMatrices(p, product, fused);
  if (!absl::IsUnimplemented(kernel.status())) return kernel;
  auto summed = SummedOperandKernel(p, product, fused, &ProductOfMatrices);
  return absl::IsUnimplemented(summed.status()) ? std::move(kernel) : std::move(summed);
}

}  // namespace tenon
