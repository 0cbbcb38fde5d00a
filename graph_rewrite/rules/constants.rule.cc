// Folds constants by running the ops' own kernels, and shapes that are known.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "env/status.h"
#include "graph/object.h"
#include "graph_rewrite/contraction.h"
#include "graph_rewrite/dims.h"
#include "graph_rewrite/rule.h"
#include "graph_rewrite/weight_only.h"
#include "ops/evaluate.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr size_t kAlwaysBytes = size_t{64} << 10;  // results up to this size may grow freely
constexpr size_t kMaxGrowth = 4;                   // larger ones by this factor

size_t OutputBytes(RuleContext& context, NodeId id, size_t outputs, bool* known) {
  size_t bytes = 0;
  *known = true;
  for (size_t port = 0; port < outputs; ++port) {
    const Endpoint e{id, static_cast<int>(port)};
    const auto n = context.shapes.shape(e).CheckedElements();
    if (!n.ok() || *n > (int64_t{1} << 40)) {
      *known = false;
      return 0;
    }
    bytes += static_cast<size_t>(*n) * SizeOf(context.shapes.dtype(e));
  }
  return bytes;
}

// 8-bit weights of a contraction with dequantized data: FuseQuantizedRegion may use them as they
// are (and FoldDequantized folds the remaining ones).
bool IsQuantizedWeight(RuleContext& context, const Node& n) {
  if (n.op != "Dequantize") return false;
  for (const Use& use : context.rw.uses(n.id)) {
    if (use.slot != 1) continue;
    const Node& reader = context.node(use.reader);
    if (!IsContraction(reader.op)) continue;
    const Node* data = &context.node(reader.inputs[0]);
    if (data->op == "Pad" || data->op == "PadV2") data = &context.node(data->inputs[0]);
    if (data->op == "Dequantize") return true;
  }
  return false;
}

// The node's output values if they can be computed now; otherwise empty.
std::vector<Tensor> ValuesOf(RuleContext& context, NodeId id) {
  const Node& n = context.node(id);
  const OpLookup op = FindOp(n.op);
  if (!op || op.info->row.stateful || n.op == "Const" || n.op == "Placeholder") return {};
  if (IsQuantizedWeight(context, n)) return {};
  // Only the shape of the input counts. op names: what each gives of it is spelled out.
  if (n.op == "Shape" || n.op == "Size" || n.op == "Rank") {
    const Shape& s = context.shapes.shape(n.inputs[0]);
    std::vector<int64_t> values;
    if (n.op == "Rank" && s.has_rank()) {
      values = {s.rank()};
    } else if (n.op == "Shape" && s.IsComplete()) {
      values.assign(s.dims().begin(), s.dims().end());
    } else if (n.op == "Size" && s.IsComplete()) {
      values = {s.num_elements()};
    } else {
      return {};
    }
    const DType* out = n.attr<DType>("out_type");
    const Shape shape = n.op == "Shape" ? Shape({s.rank()}) : Shape();
    if (out != nullptr && *out == DType::kInt64) return {Tensor::From<int64_t>(shape, values)};
    return {Tensor::From<int32_t>(shape, std::vector<int32_t>(values.begin(), values.end()))};
  }
  // A dimension that is known of a shape that is not.
  if (n.op == "StridedSlice" && IsInteger(context.shapes.dtype({id, 0}))) {
    const int64_t size = ScalarDimension(context, {id, 0}).value;
    if (size >= 0 && context.shapes.dtype({id, 0}) == DType::kInt32) {
      return {Tensor::Scalar<int32_t>(static_cast<int32_t>(size))};
    }
    if (size >= 0 && context.shapes.dtype({id, 0}) == DType::kInt64) {
      return {Tensor::Scalar<int64_t>(size)};
    }
  }
  if (n.inputs.empty() || op.info->row.reference == nullptr) return {};
  std::vector<Tensor> inputs;
  size_t input_bytes = 0;
  for (const Endpoint& e : n.inputs) {
    const Tensor* t = context.Constant(e);
    if (t == nullptr) return {};
    input_bytes += t->bytes();
    inputs.push_back(*t);
  }
  auto dtypes = OutputDTypes(*op.info, n);
  if (!dtypes.ok() || std::any_of(dtypes->begin(), dtypes->end(), HoldsObjects)) return {};
  bool known = false;
  const size_t bytes = OutputBytes(context, id, dtypes->size(), &known);
  // Results whose size is known only after running are no larger than their inputs for the usual
  // ops (Where, Unique); larger ones are not folded.
  if (known ? bytes > kAlwaysBytes && bytes > kMaxGrowth * input_bytes
            : input_bytes > kAlwaysBytes) {
    return {};
  }
  auto values = Evaluate(n, inputs, context.services);
  return values.ok() ? *std::move(values) : std::vector<Tensor>();
}

absl::Status FoldConstants(RuleContext& context) {
  TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> candidates, context.Candidates());
  for (NodeId id : candidates) {
    if (!context.graph().Has(id)) continue;
    const Node& n = context.node(id);
    if (context.rw.uses(id).empty() && !context.rw.IsKept(id)) continue;
    if (ExpandsSmallWeights(context, id)) continue;
    std::vector<Tensor> values = ValuesOf(context, id);
    if (values.empty()) continue;
    context.Step("FoldConstants", n.name);
    const std::string name = n.name;
    NodeId first = kNoNode;
    for (size_t port = 0; port < values.size(); ++port) {
      const Endpoint e{id, static_cast<int>(port)};
      if (context.rw.NumReaders(e) == 0 && !context.rw.IsOutput(e)) continue;
      const NodeId c = context.AddConst(name, std::move(values[port]));
      if (first == kNoNode) first = c;
      context.rw.ReplaceAllUses(e, {c, 0});
    }
    if (first != kNoNode) {
      context.rw.ReplaceControlUses(id, first);
      context.RemoveIfDead(id);
      if (context.graph().FindNode(name) == nullptr) context.rw.Rename(first, name);
    }
    context.EndStep("FoldConstants");
  }
  return absl::OkStatus();
}

const RuleRegistration fold({
    .name = "FoldConstants",
    .doc = "ops on constants are computed, as are Shape, Size and Rank of tensors whose shape is "
           "known, and single dimensions of shapes",
    .phase = Phase::kFold,
    .sweep = FoldConstants,
    .after = "ComputeInFloat",  // otherwise constants would be folded in half, and rounded
});

// What FoldConstants left for FuseWeightOnly, and that did not take.
Outcome FoldExpanded(RuleContext& context, NodeId id) {
  std::vector<Tensor> values = ValuesOf(context, id);
  if (values.size() != 1) return Outcome::NotMine();
  const std::string name = context.node(id).name;
  const auto found = context.node(id).inputs;
  const std::vector<Endpoint> inputs(found.begin(), found.end());
  context.rw.ReplaceNode(id, {context.AddConst(name, std::move(values[0])), 0});
  for (const Endpoint& e : inputs) {
    if (context.graph().Has(e.node)) context.RemoveIfDead(e.node);
  }
  return Outcome::Fired();
}

const RuleRegistration fold_expanded({
    .name = "FoldExpandedWeights",
    .doc = "weights are expanded ahead of time if some reader needs them as floats",
    .phase = Phase::kFuse,
    .anchors = "Cast|Sub|Mul|Reshape|Slice|ConcatV2|BitwiseAnd|RightShift",
    .apply = FoldExpanded,
    .after = "FuseWeightOnly",
    .last = true,
});

// A one-element constant of higher rank becomes a scalar if the other operand has at least that
// rank.
Outcome ScalarConstant(RuleContext& context, NodeId id) {
  const Node& n = context.node(id);
  if (n.inputs.size() != 2) return Outcome::NotMine();
  for (int slot = 0; slot < 2; ++slot) {
    const Tensor* t = context.Constant(n.inputs[static_cast<size_t>(slot)]);
    if (t == nullptr || t->num_elements() != 1 || t->shape().rank() == 0) continue;
    if (context.shapes.rank(n.inputs[static_cast<size_t>(1 - slot)]) < t->shape().rank()) {
      return Outcome::Skip(1, "the other operand's rank is not known, or lower", id);
    }
    auto scalar = t->Reshaped(Shape());
    if (!scalar.ok()) continue;
    const NodeId old = n.inputs[static_cast<size_t>(slot)].node;
    const NodeId c = context.AddConst(context.node(old).name + "/scalar", *std::move(scalar));
    context.rw.SetInput(id, slot, {c, 0});
    context.RemoveIfDead(old);
    return Outcome::Fired();
  }
  return Outcome::Skip(0, "no operand is a constant of one element", id);
}

const RuleRegistration scalar({
    .name = "ScalarConstants",
    .doc = "a constant of shape [1,1,1] next to a tensor of at least that rank becomes a scalar",
    .phase = Phase::kFold,
    .anchors = "Add|AddV2|Sub|Mul|RealDiv|Maximum|Minimum|Pow|SquaredDifference",
    .apply = ScalarConstant,
    .keeps_control_inputs = true,
});

}  // namespace
}  // namespace tenon
