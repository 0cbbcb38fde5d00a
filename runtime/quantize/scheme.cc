#include "runtime/quantize/scheme.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "env/containers.h"
#include "env/status.h"
#include "graph_rewrite/exact_products.h"
#include "graph_rewrite/quantized.h"
#include "graph_rewrite/sign.h"
#include "ops/op.h"

namespace tenon {
namespace {

using quantized::AttrOr;

// Below this many weights, a convolution of one pixel (squeeze-and-excite) takes less time than the
// conversions to integers and back.
constexpr int64_t kFewWeights = 1 << 17;

// Why the graph itself rules out quantizing the contraction; empty if it does not.
std::string WhyKept(RuleContext& context, const Node& n, const Tensor& weights) {
  if (AttrOr(n, "T", DType::kInvalid) != DType::kFloat) return "not float32";
  if (!n.control_inputs.empty()) return "control inputs";
  if (AttrOr<std::string>(n, "data_format", "NHWC") != "NHWC") return "not NHWC";
  if (AttrOr(n, "transpose_a", false)) return "its data are transposed";
  if (n.op == "DepthwiseConv2dNative" && weights.shape()[3] != 1) return "a channel multiplier";
  if (n.op == "MatMul" && (weights.shape()[AttrOr(n, "transpose_b", false) ? 1 : 0] == 1 ||
                           ChoosesTerms(weights, AttrOr(n, "transpose_b", false)))) {
    return "it sums nothing";
  }
  if (IsCompared(context, n.id)) return "its result is compared";
  if (n.op == "Conv2D") {
    const Shape& data = context.shapes.shape(n.inputs[0]);
    if (data.has_rank() && data.rank() == 4 && data[3] >= 0 && data[3] != weights.shape()[2]) {
      return "a grouped convolution";
    }
    if (data.has_rank() && data.rank() == 4 && data[1] == 1 && data[2] == 1 &&
        weights.num_elements() < kFewWeights) {
      return "one pixel: too little work";
    }
  }
  for (float v : weights.flat<float>()) {
    if (!std::isfinite(v)) return "weights that are not finite";
  }
  return "";
}

// The tensors found so far, with their groups as a union-find forest.
class Tensors {
 public:
  // The tensor's index; it is new if the index equals the previous size.
  size_t Add(Endpoint e) {
    const auto [it, fresh] = index_.try_emplace(e, list_.size());
    if (fresh) {
      list_.push_back(e);
      parent_.push_back(it->second);
    }
    return it->second;
  }
  void Join(size_t a, size_t b) { parent_[Root(a)] = Root(b); }
  size_t Root(size_t i) const {
    while (parent_[i] != i) i = parent_[i];
    return i;
  }
  const std::vector<Endpoint>& list() const { return list_; }

 private:
  HashMap<Endpoint, size_t> index_;
  std::vector<Endpoint> list_;
  std::vector<size_t> parent_;
};

bool PadsWithANumber(const RuleContext& context, Endpoint e) {
  return context.node(e).op == "PadV2" && !IsZeroPad(context, e);
}

// The inputs whose range contains the op's results, for ops that compute the same on integers as on
// floats.
std::vector<Endpoint> MovedInputs(RuleContext& context, Endpoint e) {
  const Node& n = context.node(e);
  if (e.port != 0 || !n.control_inputs.empty()) return {};
  if (AttrOr(n, "T", DType::kInvalid) != DType::kFloat) return {};
  switch (FactsOf(n.op).on_integers) {
    case OnIntegers::kPools:
      // What is padded with another number than zero has a range that says nothing of the image.
      return quantized::PoolsPixels(n) && !PadsWithANumber(context, n.inputs[0])
                 ? std::vector<Endpoint>{n.inputs[0]}
                 : std::vector<Endpoint>{};
    case OnIntegers::kPads:
      return IsZeroPad(context, e) ? std::vector<Endpoint>{n.inputs[0]} : std::vector<Endpoint>{};
    case OnIntegers::kRearranges:
      return {n.inputs[0]};
    case OnIntegers::kJoins: {
      const std::vector<Endpoint> parts(n.inputs.begin(), n.inputs.end() - 1);
      for (const Endpoint& part : parts) {
        if (context.Constant(part) != nullptr) return {};
      }
      return parts;
    }
    default:
      return {};
  }
}

// A contraction and the ops after it that become one integer op.
struct Chain {
  Endpoint end;
  bool must_end_in_integers = false;  // a sum or Relu6: there is no such op with a float result
};

// `claimed`: sums that another contraction has already absorbed.
absl::StatusOr<Chain> Follow(RuleContext& context, NodeId contraction, HashSet<NodeId>& claimed,
                             Tensors& tensors) {
  Chain chain{{contraction, 0}, false};
  bool bias = false, sum = false;
  while (true) {
    const NodeId next = context.OnlyReader(chain.end.node);
    if (next == kNoNode) return chain;
    const Node& n = context.node(next);
    if (!n.control_inputs.empty()) return chain;
    if (n.op == "BiasAdd" && !bias && !sum && n.inputs[0] == chain.end &&
        context.Constant(n.inputs[1]) != nullptr) {
      bias = true;
    } else if ((n.op == "AddV2" || n.op == "Add") && !sum && !claimed.contains(next)) {
      const Endpoint other = n.inputs[n.inputs[0] == chain.end ? 1 : 0];
      if (context.Constant(other) != nullptr || other == chain.end ||
          !context.shapes.SameShape(other, chain.end)) {
        return chain;
      }
      sum = true;
      claimed.insert(next);
      tensors.Add(other);
      chain.must_end_in_integers = true;
    } else if (n.op == "Relu" || n.op == "Relu6") {
      chain.must_end_in_integers |= n.op == "Relu6";
      chain.end = {next, 0};
      return chain;
    } else {
      return chain;
    }
    chain.end = {next, 0};
  }
}

// Functions that make a small error of their argument a large one of their result: near 0, or, if
// they are periodic, everywhere.
bool MagnifiesErrors(absl::string_view op) {
  // op names: by what they compute.
  static const auto* const kOps = new HashSet<absl::string_view>(
      {"Log", "Log1p", "Sqrt", "Rsqrt", "Reciprocal", "Inv", "Pow", "Exp", "Expm1", "Sin", "Cos",
       "Tan", "Lgamma", "Digamma", "Xlogy", "Xlog1py"});
  return kOps->contains(op);
}

// `seen`: nodes that have been asked.
bool NeedsExact(const RuleContext& context, NodeId reader, HashSet<NodeId>& seen) {
  if (!seen.insert(reader).second) return false;
  const Node& n = context.node(reader);
  const OpLookup op = FindOp(n.op);
  if (!op || op.info->row.shape_only) return false;
  // op names: this one and those that round as it does expect rounded values.
  if (n.op == "QuantizeV2" || op.info->row.on_integers == OnIntegers::kRounds) return false;
  if (op.info->row.discontinuous || MagnifiesErrors(n.op)) return true;
  const auto dtypes = OutputDTypes(*op.info, n);
  if (!dtypes.ok() || dtypes->empty()) return false;
  const auto counts = [](DType d) { return !IsFloating(d) && !IsQuantized(d); };
  if (std::all_of(dtypes->begin(), dtypes->end(), counts)) return true;
  if (!op.info->row.moves_elements && n.op != "Cast" && n.op != "Neg" &&
      !ShiftsOrScales(context, n)) {
    return false;
  }
  const absl::Span<const Use> uses = context.rw.uses(reader);
  return std::any_of(uses.begin(), uses.end(), [&](const Use& use) {
    return !use.is_control() && NeedsExact(context, use.reader, seen);
  });
}

}  // namespace

bool NeedsExactValues(const RuleContext& context, NodeId reader) {
  HashSet<NodeId> seen;
  return NeedsExact(context, reader, seen);
}

void SplitGroups(Scheme& scheme, const std::vector<ValueRange>& own) {
  constexpr float kMost = 8;
  const auto size = [&](size_t i) { return std::max(-own[i].low, own[i].high); };
  std::vector<std::vector<size_t>> groups(static_cast<size_t>(scheme.num_groups));
  for (size_t i = 0; i < scheme.tensors.size(); ++i) {
    groups[static_cast<size_t>(scheme.tensors[i].group)].push_back(i);
  }
  for (std::vector<size_t>& members : groups) {
    std::stable_sort(members.begin(), members.end(),
                     [&](size_t a, size_t b) { return size(a) > size(b); });
    float largest = members.empty() ? 0 : size(members[0]);
    bool split = false;
    for (const size_t i : members) {
      if (size(i) > 0 && size(i) * kMost < largest) {
        largest = size(i);
        split = true;
        ++scheme.num_groups;
      }
      if (split) scheme.tensors[i].group = scheme.num_groups - 1;
    }
  }
}

bool IsZeroPad(const RuleContext& context, Endpoint e) {
  const Node& n = context.node(e);
  if (e.port != 0 || !n.control_inputs.empty() || (n.op != "Pad" && n.op != "PadV2")) return false;
  if (context.Constant(n.inputs[1]) == nullptr) return false;
  if (n.op == "Pad") return true;
  const Tensor* fill = context.Constant(n.inputs[2]);
  return fill != nullptr && fill->dtype() == DType::kFloat && fill->num_elements() == 1 &&
         fill->data<float>()[0] == 0;
}

absl::StatusOr<std::vector<Layer>> FindLayers(RuleContext& context) {
  std::vector<Layer> layers;
  TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> order, context.graph().TopologicalOrder());
  for (NodeId id : order) {
    const Node& n = context.node(id);
    if (FactsOf(n.op).on_integers != OnIntegers::kContraction) continue;
    const bool matmul = n.op == "MatMul", depthwise = n.op == "DepthwiseConv2dNative";
    const Tensor* weights = context.Constant(n.inputs[1]);
    if (weights == nullptr || context.Constant(n.inputs[0]) != nullptr) continue;
    if (weights->shape().rank() != (matmul ? 2 : 4) || weights->num_elements() == 0) continue;
    Layer layer;
    layer.node = id;
    layer.name = n.name;
    layer.data = n.inputs[0];
    layer.weights = n.inputs[1];
    layer.channel_axis = matmul ? (AttrOr(n, "transpose_b", false) ? 0 : 1) : depthwise ? 2 : 3;
    layer.kept = weights->dtype() == DType::kFloat ? WhyKept(context, n, *weights) : "not float32";
    while (!matmul && IsZeroPad(context, layer.data)) {
      layer.data = context.node(layer.data).inputs[0];
    }
    layers.push_back(std::move(layer));
  }
  return layers;
}

absl::StatusOr<Scheme> ChooseTensors(RuleContext& context, const std::vector<Layer>& layers) {
  Tensors tensors;
  for (const Layer& layer : layers) {
    if (layer.kept.empty()) tensors.Add(layer.data);
  }
  // If two contractions are added, the later one absorbs the sum.
  HashSet<NodeId> claimed;
  for (auto it = layers.rbegin(); it != layers.rend(); ++it) {
    if (!it->kept.empty()) continue;
    TENON_ASSIGN_OR_RETURN(const Chain chain, Follow(context, it->node, claimed, tensors));
    if (chain.must_end_in_integers && !context.rw.IsOutput(chain.end)) tensors.Add(chain.end);
  }
  for (size_t i = 0; i < tensors.list().size(); ++i) {
    for (const Endpoint& in : MovedInputs(context, tensors.list()[i])) {
      tensors.Join(i, tensors.Add(in));
    }
  }
  Scheme scheme;
  HashMap<size_t, int> groups;
  for (size_t i = 0; i < tensors.list().size(); ++i) {
    const Endpoint e = tensors.list()[i];
    const std::string& op = context.node(e).op;
    const auto [group, fresh] = groups.try_emplace(tensors.Root(i), scheme.num_groups);
    scheme.num_groups += fresh;
    scheme.tensors.push_back(
        {e, group->second, IsNeverNegative(context, e), op == "Placeholder", op == "Relu6"});
  }
  return scheme;
}

}  // namespace tenon
