#include "graph_rewrite/sequence_lengths.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "env/status.h"
#include "graph_rewrite/elements.h"

namespace tenon {
namespace {

// What an Identity passes on, which may wait for a check of the lengths.
Endpoint Behind(const RuleContext& context, Endpoint e) {
  while (context.node(e).op == "Identity") e = context.node(e).inputs[0];
  return e;
}

bool IsAtLeastLongest(RuleContext& context, int64_t value, Endpoint lengths) {
  const Endpoint source = Behind(context, lengths);
  if (context.node(source).op != "Const") return false;
  const std::vector<int64_t> all = ConstantIntegers(context, source);
  return std::all_of(all.begin(), all.end(), [&](int64_t length) { return length <= value; });
}

constexpr int kMostLengthHops = 8;

// Whether a scalar is at least the largest of the lengths: it, or a maximum with it.
bool IsAtLeastLongest(RuleContext& context, Endpoint scalar, Endpoint lengths, int hops = 0) {
  if (hops > kMostLengthHops) return false;
  const Node& n = context.node(scalar);
  if (n.op == "Maximum") {
    return std::any_of(n.inputs.begin(), n.inputs.end(),
                       [&](Endpoint e) { return IsAtLeastLongest(context, e, lengths, hops + 1); });
  }
  if (n.op == "Max") {
    // Of a vector, over all of it.
    return Behind(context, n.inputs[0]) == Behind(context, lengths) &&
           ConstantIntegers(context, n.inputs[1]).size() == 1;
  }
  if (n.op == "Identity") return IsAtLeastLongest(context, n.inputs[0], lengths, hops + 1);
  const Dimension constant = ScalarDimension(context, scalar);
  return constant.value >= 0 && IsAtLeastLongest(context, constant.value, lengths);
}

// Whether two numbers of steps are computed alike.
bool SameNumber(RuleContext& context, Endpoint a, Endpoint b, int hops = 0) {
  if (a == b) return true;
  if (hops > kMostLengthHops) return false;
  const Node &na = context.node(a), &nb = context.node(b);
  if (ScalarDimension(context, a) == ScalarDimension(context, b)) return true;
  if (na.op != nb.op) return false;
  if (na.op == "Max") {
    return Behind(context, na.inputs[0]) == Behind(context, nb.inputs[0]) &&
           ConstantIntegers(context, na.inputs[1]).size() == 1 &&
           ConstantIntegers(context, nb.inputs[1]).size() == 1;
  }
  // op names: those whose operands may be swapped
  if (na.op != "Minimum" && na.op != "Maximum") return false;
  for (size_t other : {0, 1}) {
    if (SameNumber(context, na.inputs[0], nb.inputs[other], hops + 1) &&
        SameNumber(context, na.inputs[1], nb.inputs[1 - other], hops + 1)) {
      return true;
    }
  }
  return false;
}

// The StridedSlice behind a product; null if there is none.
const Node* SliceBehind(RuleContext& context, Endpoint e) {
  const Node* n = &context.node(e);
  // op names: those that keep the steps of input 0
  while (n->op == "BiasAdd" || n->op == "BatchMatMulV2" || n->op == "_FusedBatchMatMulV2") {
    n = &context.node(n->inputs[0]);
  }
  return n->op == "StridedSlice" && context.node(n->inputs[2]).op == "Pack" ? n : nullptr;
}

// Adds nodes whose names begin with `name`.
class Adder {
 public:
  Adder(RuleContext& context, const std::string& name, const std::string& device)
      : context_(context), name_(name), device_(device) {}
  absl::StatusOr<Endpoint> Add(const char* suffix, const char* op,
                               const std::vector<Endpoint>& inputs, AttrMap attrs) {
    Node n;
    n.name = absl::StrCat(name_, suffix);
    n.op = op;
    n.device = device_;
    n.inputs.assign(inputs.begin(), inputs.end());
    n.attrs = std::move(attrs);
    TENON_ASSIGN_OR_RETURN(const NodeId id, context_.AddNode(std::move(n)));
    return Endpoint{id, 0};
  }
  Endpoint Constant(const char* suffix, Tensor value) {
    return {context_.AddConst(absl::StrCat(name_, suffix), std::move(value)), 0};
  }
  Endpoint Vector(const char* suffix, std::vector<int32_t> values) {
    return Constant(suffix, Tensor::Vector<int32_t>(std::move(values)));
  }

 private:
  RuleContext& context_;
  const std::string name_, device_;
};

}  // namespace

bool ComparesBySize(absl::string_view op) {
  // op names: the comparisons that say which side is larger
  static constexpr absl::string_view kOps[] = {"Less", "LessEqual", "Greater", "GreaterEqual"};
  return std::find(std::begin(kOps), std::end(kOps), op) != std::end(kOps);
}

bool ReachesAllLengths(RuleContext& context, Endpoint bound, int64_t value, const Dimension& steps,
                       Endpoint lengths) {
  if (bound.node == kNoNode) return IsAtLeastLongest(context, value, lengths);
  const Node& n = context.node(bound);
  if (n.op == "Const") {
    const Dimension constant = ScalarDimension(context, bound);
    return constant.value >= 0 && IsAtLeastLongest(context, constant.value, lengths);
  }
  if (n.op != "Minimum") return false;
  for (size_t i : {0, 1}) {
    if (ScalarDimension(context, n.inputs[i]) == steps &&
        IsAtLeastLongest(context, n.inputs[1 - i], lengths)) {
      return true;
    }
  }
  return false;
}

absl::StatusOr<Endpoint> AddFirstSteps(RuleContext& context, const std::string& name,
                                       const std::string& device, Endpoint sequence, int axis,
                                       Endpoint steps) {
  Adder adder(context, name, device);
  const Endpoint zeros = adder.Vector("/from", std::vector<int32_t>(static_cast<size_t>(axis) + 1));
  const Endpoint ones = adder.Vector("/by", std::vector<int32_t>(static_cast<size_t>(axis) + 1, 1));
  std::vector<Endpoint> ends(static_cast<size_t>(axis),
                             adder.Constant("/all", Tensor::Scalar<int32_t>(0)));
  ends.push_back(steps);
  TENON_ASSIGN_OR_RETURN(const Endpoint to, adder.Add("/to", "Pack", ends,
                                                      {{"T", DType::kInt32},
                                                       {"N", static_cast<int64_t>(ends.size())}}));
  // All of the axes before.
  return adder.Add("/first_steps", "StridedSlice", {sequence, zeros, to, ones},
                   {{"T", context.shapes.dtype(sequence)},
                    {"Index", DType::kInt32},
                    {"end_mask", (int64_t{1} << axis) - 1}});
}

bool HaveSameFirstSteps(RuleContext& context, Endpoint a, Endpoint b) {
  const Node *sa = SliceBehind(context, a), *sb = SliceBehind(context, b);
  return sa != nullptr && sb != nullptr && context.shapes.SameShape(sa->inputs[0], sb->inputs[0]) &&
         ConstantIntegers(context, sa->inputs[1]) == ConstantIntegers(context, sb->inputs[1]) &&
         ConstantIntegers(context, sa->inputs[3]) == ConstantIntegers(context, sb->inputs[3]) &&
         sa->attrs == sb->attrs &&
         SameNumber(context, context.node(sa->inputs[2]).inputs.back(),
                    context.node(sb->inputs[2]).inputs.back());
}

absl::StatusOr<Endpoint> AddLengthMask(RuleContext& context, const std::string& name,
                                       const std::string& device, Endpoint lengths,
                                       Endpoint sequence, int axis) {
  const DType dtype = context.shapes.dtype(lengths);
  Adder adder(context, name, device);
  auto scalar = [&](int64_t value) {
    return dtype == DType::kInt64 ? Tensor::Scalar<int64_t>(value)
                                  : Tensor::Scalar<int32_t>(static_cast<int32_t>(value));
  };
  const Endpoint zero = adder.Constant("/first_step", scalar(0));
  const Endpoint one = adder.Constant("/one_step", scalar(1));
  TENON_ASSIGN_OR_RETURN(const Endpoint shape,
                         adder.Add("/input_shape", "Shape", {sequence},
                                   {{"T", context.shapes.dtype(sequence)}, {"out_type", dtype}}));
  TENON_ASSIGN_OR_RETURN(
      const Endpoint steps,
      adder.Add("/num_steps", "StridedSlice",
                {shape, adder.Vector("/axis", {axis}), adder.Vector("/axis_end", {axis + 1}),
                 adder.Vector("/stride", {1})},
                {{"T", dtype}, {"Index", DType::kInt32}, {"shrink_axis_mask", int64_t{1}}}));
  TENON_ASSIGN_OR_RETURN(const Endpoint range,
                         adder.Add("/steps", "Range", {zero, steps, one}, {{"Tidx", dtype}}));
  TENON_ASSIGN_OR_RETURN(const Endpoint column,
                         adder.Add("/lengths", "ExpandDims", {lengths, adder.Vector("/last", {1})},
                                   {{"T", dtype}, {"Tdim", DType::kInt32}}));
  return adder.Add("/mask", "Less", {range, column}, {{"T", dtype}});
}

}  // namespace tenon
