// Convolutions of rows, [N, W, C], are spelled as ExpandDims, a convolution of images of height 1,
// and Squeeze. Elementwise ops behind that Squeeze are moved before it, next to the convolution,
// which can then absorb them: biases, batch norms, activations, sums.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph_rewrite/rule.h"
#include "kernels/elementwise/elementwise.h"

namespace tenon {
namespace {

// Whether it removes the height of images, the second of four dimensions.
bool RemovesHeight(RuleContext& context, const Node& squeeze) {
  const auto* axes = squeeze.attr<std::vector<int64_t>>("squeeze_dims");
  return axes != nullptr && axes->size() == 1 && ((*axes)[0] == 1 || (*axes)[0] == -3) &&
         context.shapes.shape(squeeze.inputs[0]).rank() == 4;
}

// Whether the op gives convolutions of images with the channels last, alone or fused.
bool IsImageConvolution(const Node& n) {
  // op names: the convolutions that TensorFlow spells those of rows with
  if (n.op != "Conv2D" && n.op != "_FusedConv2D" && n.op != "DepthwiseConv2dNative" &&
      n.op != "_FusedDepthwiseConv2dNative") {
    return false;
  }
  const std::string* format = n.attr<std::string>("data_format");
  return format != nullptr && *format == "NHWC";
}

// Whether the op behind the Squeeze is a convolution, or elementwise and moved there before.
bool FollowsConvolution(RuleContext& context, Endpoint e) {
  for (int hops = 0; hops < 16; ++hops) {
    const Node& n = context.node(e);
    if (IsImageConvolution(n)) return true;
    const bool bias = n.op == "BiasAdd";
    if ((!bias && FindElementwise(n.op) == nullptr) || n.inputs.empty()) return false;
    e = n.inputs[0];
  }
  return false;
}

// How an operand of three dimensions or fewer is read by an op on images.
enum class Operand { kAsIs, kExpanded, kNeither };
Operand OperandOnImages(RuleContext& context, Endpoint e, Endpoint row) {
  const Shape& shape = context.shapes.shape(e);
  if (!shape.has_rank()) return Operand::kNeither;
  // Its dimensions are aligned with the last ones: width and channels, or a height of 1.
  if (shape.rank() <= 2 || (shape.rank() == 3 && shape.dim(0) == 1)) return Operand::kAsIs;
  return shape.rank() == 3 && context.shapes.SameShape(e, row) ? Operand::kExpanded
                                                               : Operand::kNeither;
}

Outcome MoveBehind(RuleContext& context, NodeId id) {
  const Node& squeeze = context.node(id);
  const Endpoint row{id, 0};
  if (!RemovesHeight(context, squeeze) || !FollowsConvolution(context, squeeze.inputs[0])) {
    return Outcome::NotMine();
  }
  const NodeId reader = context.OnlyReader(id);
  if (reader == kNoNode) return Outcome::NotMine();
  const Node& op = context.Candidate(reader);
  const bool bias = op.op == "BiasAdd";
  const ElementwiseInfo* info = FindElementwise(op.op);
  if (!bias && (info == nullptr || info->arity() > 2)) return Outcome::NotMine();
  if (bias && op.inputs[0] != row) return Outcome::NotMine();
  if (bias) {
    const std::string* format = op.attr<std::string>("data_format");
    if (format == nullptr || *format != "NHWC") return Outcome::NotMine();
  } else if (static_cast<int>(op.inputs.size()) != info->arity()) {
    return Outcome::NotMine();
  }

  Node before = op, after = squeeze;  // copies: adding nodes moves the others
  std::vector<size_t> expanded;
  for (size_t i = 0; i < before.inputs.size(); ++i) {
    if (before.inputs[i] == row) {
      before.inputs[i] = squeeze.inputs[0];
    } else if (!bias) {
      const Operand operand = OperandOnImages(context, before.inputs[i], row);
      if (operand == Operand::kNeither) {
        return Outcome::Skip(
            1, absl::StrCat("'", op.name, "' (", op.op, ") has an operand of another shape"),
            reader);
      }
      if (operand == Operand::kExpanded) expanded.push_back(i);
    }
  }
  for (size_t i : expanded) {
    const NodeId axis = context.AddConst(before.name + "/height", Tensor::Scalar<int32_t>(1));
    Node image;
    image.name = before.name + "/image";
    image.op = "ExpandDims";
    image.attrs["T"] = context.shapes.dtype(before.inputs[i]);
    image.attrs["Tdim"] = DType::kInt32;
    image.inputs = {before.inputs[i], {axis, 0}};
    auto added = context.AddNode(std::move(image));
    if (!added.ok()) return Outcome::Skip(1, std::string(added.status().message()), reader);
    before.inputs[i] = {*added, 0};
  }
  after.name = before.name;
  auto moved = context.AddNode(std::move(before));
  if (!moved.ok()) return Outcome::Skip(1, std::string(moved.status().message()), reader);
  after.inputs[0] = {*moved, 0};
  auto result = context.AddNode(std::move(after));
  if (!result.ok()) return Outcome::Skip(1, std::string(result.status().message()), reader);
  context.rw.ReplaceNode(reader, {*result, 0});
  context.RemoveIfDead(id);
  return Outcome::Fired();
}

// Before batch norms are folded into filters, and again for activations that other rules found.
const RuleRegistration squeeze_affine({
    .name = "SqueezeBehindAffine",
    .doc = "elementwise ops that follow a convolution of rows are computed before its Squeeze",
    .phase = Phase::kFold,
    .dtypes = "float bfloat16",
    .anchors = "Squeeze",
    .apply = MoveBehind,
});

const RuleRegistration squeeze_activation({
    .name = "SqueezeBehindActivation",
    .doc = "activations that follow a convolution of rows are computed before its Squeeze",
    .phase = Phase::kFuse,
    .dtypes = "float bfloat16",
    .anchors = "Squeeze",
    .apply = MoveBehind,
});

}  // namespace
}  // namespace tenon
