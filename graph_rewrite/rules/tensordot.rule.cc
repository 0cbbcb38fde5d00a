// Keras writes a dense layer on tensors of rank 3 and more as
//
//   reshape(matmul(reshape(x, [prod(x.shape[:-1]), K]), W), x.shape[:-1] + [N])
//
// That is a batched product with W broadcast, without the arithmetic on shapes; and the ops after
// it (bias, activation, residual) then directly follow the contraction.
#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph_rewrite/dims.h"
#include "graph_rewrite/elements.h"
#include "graph_rewrite/pattern.h"
#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

absl::Status KeepsRows(const Match& match) {
  if (match.node("w").op == "Dequantize") return WhyNot("quantized products are of matrices");
  const Shape &x = match.shape("x"), &w = match.shape("w");
  if (!x.has_rank() || x.rank() < 3) return WhyNot("the operand's rank is not known, or below 3");
  if (!w.IsComplete() || w.rank() != 2) return WhyNot("the weights' shape is not known");
  const bool* transposed = match.node("m").attr<bool>("transpose_b");
  if (transposed == nullptr) return WhyNot("the product lacks an attribute");
  // BatchMatMulV2 has no transposition of complex numbers without their conjugates.
  if (*transposed && IsComplex(match.context().shapes.dtype(match.at("w")))) {
    return WhyNot("the weights are complex, and transposed");
  }
  const int64_t k = w.dim(*transposed ? 1 : 0), n = w.dim(*transposed ? 0 : 1);
  if (x.dim(x.rank() - 1) != k) return WhyNot("the Reshape splits rows");
  if (!match.context().shapes.SameShapeButLast(match.at("y"), match.at("x"), n)) {
    return WhyNot("the result's shape is not provably the operand's");
  }
  return absl::OkStatus();
}

// The Reshape before the product may have other readers.
const RuleRegistration tensordot({
    .name = "FoldTensordot",
    .doc = "a MatMul between Reshapes that join and split all dimensions but the last becomes a "
           "BatchMatMulV2",
    .phase = Phase::kFold,
    .pattern = "%r = Reshape(%x, %s) %m = MatMul(%r, %w) {transpose_a=false}"
               " %y = Reshape(%m, %t) out r = %r out y = %y",
    .replacement = "%y = BatchMatMulV2(%x, %w) {adj_y=@m.transpose_b} out r = %r out y = %y",
    .dtypes = "",
    .when = KeepsRows,
});

// A Reshape to [batch, 1, 1, 64] or to shape(x)[:1] + [50, 64] with one computed dimension: that
// one follows from the rest.
Outcome StaticReshape(RuleContext& context, NodeId id) {
  const Node& n = context.node(id);
  const Node& given = context.node(n.inputs[1]);
  if (given.op != "Pack" && given.op != "ConcatV2") return Outcome::NotMine();
  const bool joined = given.op == "ConcatV2";
  const size_t parts = given.inputs.size() - (joined ? 1 : 0);  // without the axis
  for (size_t i = 0; i < parts; ++i) {
    const std::vector<int64_t> sizes = ConstantIntegers(context, given.inputs[i]);
    if (std::any_of(sizes.begin(), sizes.end(), [](int64_t d) { return d <= 0; })) {
      return Outcome::Skip(1, "a dimension is 0 or to be inferred", id);
    }
  }
  const Shape length = context.shapes.shape(n.inputs[1]);
  if (!length.has_rank() || length.rank() != 1 || length.dim(0) < 0) return Outcome::NotMine();
  std::vector<int64_t> dims;
  int computed = 0;
  for (int64_t i = 0; i < length.dim(0); ++i) {
    dims.push_back(ElementDimension(context, n.inputs[1], i).value);
    if (dims.back() == 0) return Outcome::Skip(1, "a dimension is 0", id);
    computed += dims.back() < 0;
  }
  if (computed != 1) {
    return Outcome::Skip(1, absl::StrCat(computed, " of its dimensions are computed"), id);
  }
  const NodeId old = given.id;
  const DType* type = n.attr<DType>("Tshape");
  Tensor shape = Tensor::Vector<int32_t>(std::vector<int32_t>(dims.begin(), dims.end()));
  if (type != nullptr && *type == DType::kInt64) shape = Tensor::Vector<int64_t>(dims);
  const NodeId c = context.AddConst(given.name, std::move(shape));
  context.rw.SetInput(id, 1, {c, 0});
  context.RemoveIfDead(old);
  // Of a joined shape ShapeInfo knew nothing. Not for others: once all shapes are inferred again,
  // two dense layers of a BERT with its preprocessor no longer fold.
  if (joined) context.shapes.ExpectMore();
  return Outcome::Fired();
}

const RuleRegistration static_reshape({
    .name = "StaticReshape",
    .doc = "the only computed dimension of a Reshape's shape becomes -1",
    .phase = Phase::kFold,
    .anchors = "Reshape",
    .apply = StaticReshape,
    .keeps_control_inputs = true,
});

}  // namespace
}  // namespace tenon
