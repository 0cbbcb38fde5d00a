// Quantization-aware training leaves ops that round floats to integer multiples of a scale
// (FakeQuant…, QuantizeAndDequantize…) on the data and on the constant weights of contractions. If
// they use 8 bits and constant ranges, they become Dequantize of integers, for the rules on
// quantized regions:
//
// round(x; min or more)     = Dequantize(QuantizeV2(x; quint8))
//   round(x; -127 s .. 127 s) = Dequantize(QuantizeV2(x; qint8))
//   round(w; -127 s .. 127 s) = Dequantize(a qint8 constant)
//
// Ties may round differently; the integers of weights are computed from the op's result.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "env/status.h"
#include "graph_rewrite/quantized.h"
#include "graph_rewrite/rule.h"
#include "kernels/quantized/nudged_range.h"
#include "kernels/quantized/round_trip.h"
#include "ops/evaluate.h"
#include "ops/op.h"

namespace tenon {
namespace {

using quantized::AttrOr;

bool Rounds(const Node& n) { return FactsOf(n.op).on_integers == OnIntegers::kRounds; }
// Of the two families that round, by the names of their attributes.
bool IsFakeQuant(const Node& n) { return absl::StartsWith(n.op, "FakeQuant"); }

// The op's integers, for each slice along an axis (-1: one for all): the k-th of 256 represents low
// + k * step, where step is the scale.
struct Rounding {
  std::vector<float> low, step;
  int64_t axis = -1;
  bool narrow = false;  // without the lowest integer
  // Whether slice i has the integers -127..127 and possibly -128, with zero point 0.
  bool symmetric(size_t i) const { return std::fabs(low[i] + 128 * step[i]) <= 1e-3f * step[i]; }
};

absl::StatusOr<std::vector<float>> Constants(const RuleContext& context, Endpoint e) {
  const Tensor* t = context.Constant(e);
  if (t == nullptr || t->dtype() != DType::kFloat) return WhyNot("a range is not constant");
  return std::vector<float>(t->flat<float>().begin(), t->flat<float>().end());
}

absl::Status ReadFakeQuant(const Node& n, const std::vector<float>& min,
                           const std::vector<float>& max, Rounding& r) {
  if (AttrOr<int64_t>(n, "num_bits", 8) != 8) return WhyNot("not 8 bits");
  TENON_ASSIGN_OR_RETURN(const Steps steps, ReadSteps(AttrReader(n)));
  for (size_t i = 0; i < min.size(); ++i) {
    if (!(min[i] <= 0 && max[i] >= 0 && min[i] < max[i])) return WhyNot("a range without 0");
    const Nudged nudged(FloatRange{min[i], max[i]}, steps);
    r.step.push_back(nudged.scale);
    r.low.push_back(-nudged.point * nudged.scale);
  }
  return absl::OkStatus();
}

absl::Status ReadRoundTrip(const RuleContext& context, const Node& n, const std::vector<float>& min,
                           const std::vector<float>& max, Rounding& r) {
  if (!AttrOr(n, "range_given", false)) return WhyNot("no range is given");
  const bool is_signed = AttrOr(n, "signed_input", true);
  int64_t bits = AttrOr<int64_t>(n, "num_bits", 8);
  if (n.inputs.size() == 4) {
    const Tensor* value = context.Constant(n.inputs[3]);
    if (value == nullptr) return WhyNot("the bits are not constant");
    TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> values, IntegerValues(*value));
    if (values.size() != 1) return WhyNot("the bits are no number");
    bits = values[0];
  }
  if (bits != 8) return WhyNot("not 8 bits");
  for (size_t i = 0; i < min.size(); ++i) {
    if (!(min[i] <= max[i])) return WhyNot("an empty range");
    const RoundTripSteps<float> steps({.is_signed = is_signed, .narrow = r.narrow, .bits = 8},
                                      min[i], max[i]);
    r.step.push_back(steps.inverse);
    r.low.push_back(is_signed ? -128 * steps.inverse : 0.0f);
  }
  return absl::OkStatus();
}

absl::StatusOr<Rounding> ReadRounding(RuleContext& context, const Node& n) {
  if (AttrOr(n, "T", DType::kFloat) != DType::kFloat) return WhyNot("not float");
  Rounding r;
  r.narrow = AttrOr(n, "narrow_range", false);
  r.axis = AttrOr<int64_t>(n, "axis", -1);
  std::vector<float> min, max;
  if (n.inputs.size() == 1) {
    const bool fake = IsFakeQuant(n);
    min = {AttrOr(n, fake ? "min" : "input_min", fake ? -6.0f : 0.0f)};
    max = {AttrOr(n, fake ? "max" : "input_max", fake ? 6.0f : 0.0f)};
  } else {
    TENON_ASSIGN_OR_RETURN(min, Constants(context, n.inputs[1]));
    TENON_ASSIGN_OR_RETURN(max, Constants(context, n.inputs[2]));
  }
  if (min.size() != max.size() || min.empty()) return WhyNot("ranges of unequal sizes");
  if (n.op == "FakeQuantWithMinMaxVarsPerChannel") {
    const Shape& shape = context.shapes.shape(n.inputs[0]);
    if (!shape.has_rank()) return WhyNot("the rank is not known");
    r.axis = shape.rank() - 1;
  }
  if (IsFakeQuant(n)) {
    TENON_RETURN_IF_ERROR(ReadFakeQuant(n, min, max, r));
  } else {
    TENON_RETURN_IF_ERROR(ReadRoundTrip(context, n, min, max, r));
  }
  for (float step : r.step) {
    if (!std::isnormal(step)) return WhyNot("a range that is too small or too large");
  }
  return r;
}

absl::StatusOr<NodeId> AddDequantize(RuleContext& context, const std::string& name,
                                     const std::vector<Endpoint>& inputs, DType dtype,
                                     const char* mode, int64_t axis) {
  Node n;
  n.name = name;
  n.op = "Dequantize";
  n.inputs.assign(inputs.begin(), inputs.end());
  n.attrs["T"] = dtype;
  n.attrs["mode"] = std::string(mode);
  n.attrs["axis"] = axis;
  return context.AddNode(std::move(n));
}

bool IsQuantizedContraction(const RuleContext& context, NodeId id) {
  const Node& n = context.node(id);
  return FactsOf(n.op).on_integers == OnIntegers::kContraction &&
         context.node(n.inputs[1]).op == "Dequantize";
}

// Looks through activations, of which a model has few in a row.
bool IsRounded(const RuleContext& context, NodeId id, int most_activations = 2) {
  for (const Use& use : context.rw.uses(id)) {
    if (use.is_control()) continue;
    const Node& n = context.node(use.reader);
    if (Rounds(n) || n.op == "QuantizeV2") return true;
    if ((n.op == "Relu" || n.op == "Relu6") && most_activations > 0 &&
        IsRounded(context, n.id, most_activations - 1)) {
      return true;
    }
  }
  return false;
}

// Gives integers where rounded data are integers.
bool PassesIntegersOn(const Node& n) {
  switch (FactsOf(n.op).on_integers) {
    case OnIntegers::kRearranges:
    case OnIntegers::kPads:
    case OnIntegers::kPools:
    case OnIntegers::kJoins:
    case OnIntegers::kAdds:
    case OnIntegers::kAverages:
      return true;
    default:
      return false;
  }
}

// Whether an op that reads or computes the rounded data may become an op on integers.
bool HasUse(const RuleContext& context, NodeId id) {
  for (const Use& use : context.rw.uses(id)) {
    if (use.is_control()) continue;
    if (IsQuantizedContraction(context, use.reader)) return true;
    if (!PassesIntegersOn(context.node(use.reader))) continue;
    const auto next = context.rw.uses(use.reader);
    if (IsRounded(context, use.reader) || std::any_of(next.begin(), next.end(), [&](const Use& u) {
          return !u.is_control() && IsQuantizedContraction(context, u.reader);
        })) {
      return true;
    }
  }
  // op names: between a contraction and this there may be a bias, a sum and a relu.
  NodeId source = context.node(id).inputs[0].node;
  for (int hops = 0; hops < 4; ++hops) {
    if (IsQuantizedContraction(context, source)) return true;
    const Node& n = context.node(source);
    if (PassesIntegersOn(n)) {
      const Node& data = context.node(n.inputs[0]);
      if (data.op == "Dequantize" || Rounds(data)) return true;
    }
    // op names: as above.
    if (n.op != "BiasAdd" && n.op != "Relu" && n.op != "Relu6" && n.op != "AddV2") return false;
    source = n.inputs[0].node;
  }
  return false;
}

Outcome DataToIntegers(RuleContext& context, NodeId id) {
  const Node& n = context.node(id);
  if (context.Constant(n.inputs[0]) != nullptr || !HasUse(context, id)) return Outcome::NotMine();
  auto skip = [&](absl::string_view reason) { return Outcome::Skip(1, std::string(reason), id); };
  const auto r = ReadRounding(context, n);
  if (!r.ok()) return skip(r.status().message());
  if (r->axis >= 0) return skip("the data have more than one range");
  const bool is_signed = r->symmetric(0);
  if (r->narrow && !is_signed) return skip("the data have a narrow range");
  const float low = r->low[0], step = r->step[0];
  const char* const mode = is_signed || low == 0 ? "SCALED" : "MIN_COMBINED";
  const DType dtype = is_signed ? DType::kQint8 : DType::kQuint8;
  const std::string name = n.name;
  const std::vector<Endpoint> inputs(n.inputs.begin(), n.inputs.end());
  Node q;
  q.name = name + "/quantized";
  q.op = "QuantizeV2";
  const float min = is_signed ? -127 * step : low, max = is_signed ? 127 * step : low + 255 * step;
  q.inputs = {inputs[0],
              {context.AddConst(name + "/min", Tensor::Scalar(min)), 0},
              {context.AddConst(name + "/max", Tensor::Scalar(max)), 0}};
  q.attrs["T"] = dtype;
  q.attrs["mode"] = std::string(mode);
  q.attrs["narrow_range"] = r->narrow;
  q.attrs["ensure_minimum_range"] = 0.0f;
  const auto integers = context.AddNode(std::move(q));
  if (!integers.ok()) return skip(integers.status().message());
  const auto real = AddDequantize(context, name, {{*integers, 0}, {*integers, 1}, {*integers, 2}},
                                  dtype, mode, -1);
  if (!real.ok()) return skip(real.status().message());
  context.rw.ReplaceNode(id, {*real, 0});
  for (const Endpoint& e : inputs) {
    if (context.graph().Has(e.node)) context.RemoveIfDead(e.node);
  }
  return Outcome::Fired();
}

struct Weights {
  Tensor integers, max;  // the number that the integer 127 represents
  int64_t axis = -1;
};

absl::StatusOr<Weights> ReadWeights(RuleContext& context, const Node& contraction) {
  const Node& n = context.node(contraction.inputs[1]);
  const Tensor* const plain = context.Constant(n.inputs[0]);
  if (plain == nullptr || plain->num_elements() == 0) return WhyNot("the weights are not constant");
  TENON_ASSIGN_OR_RETURN(const Rounding r, ReadRounding(context, n));
  const int64_t channels = contraction.op == "MatMul"
                               ? (AttrOr(contraction, "transpose_b", false) ? 0 : 1)
                           : contraction.op == "Conv2D" ? 3
                                                        : 2;
  if (r.step.size() > 1 && r.axis != channels)
    return WhyNot("ranges that are not for output channels");
  std::vector<Tensor> inputs;
  for (const Endpoint& e : n.inputs) inputs.push_back(*context.Constant(e));
  TENON_ASSIGN_OR_RETURN(const std::vector<Tensor> rounded, Evaluate(n, inputs, context.services));

  Weights w;
  TENON_ASSIGN_OR_RETURN(w.integers, Tensor::Allocate(DType::kQint8, plain->shape()));
  std::vector<float> max;
  for (size_t i = 0; i < r.step.size(); ++i) {
    if (!r.symmetric(i)) return WhyNot("the weights' steps are not symmetric about 0");
    max.push_back(127 * r.step[i]);
  }
  int64_t inner = 1;
  if (r.step.size() > 1) {
    for (int d = static_cast<int>(r.axis) + 1; d < plain->shape().rank(); ++d) {
      inner *= plain->shape()[d];
    }
    w.axis = r.axis;
  }
  const float* const value = rounded[0].data<float>();
  for (int64_t i = 0; i < plain->num_elements(); ++i) {
    const float k = std::round(value[i] / r.step[static_cast<size_t>(i / inner) % r.step.size()]);
    if (!(k >= -128 && k <= 127)) return WhyNot("the weights have NaN");
    w.integers.data<int8_t>()[i] = static_cast<int8_t>(k);
  }
  w.max = max.size() == 1 ? Tensor::Scalar(max[0]) : Tensor::Vector(std::move(max));
  return w;
}

absl::Status ReplaceWeights(RuleContext& context, NodeId contraction, Weights w) {
  const NodeId old = context.node(contraction).inputs[1].node;
  const std::string name = context.node(old).name + "/integers";
  TENON_ASSIGN_OR_RETURN(Tensor min, w.max.Clone());
  for (float& v : min.flat<float>()) v = -v;
  const Endpoint q{context.AddConst(name, std::move(w.integers)), 0};
  const Endpoint low{context.AddConst(name + "/min", std::move(min)), 0};
  const Endpoint high{context.AddConst(name + "/max", std::move(w.max)), 0};
  TENON_ASSIGN_OR_RETURN(const NodeId real, AddDequantize(context, name + "/real", {q, low, high},
                                                          DType::kQint8, "SCALED", w.axis));
  context.rw.SetInput(contraction, 1, {real, 0});
  context.RemoveIfDead(old);
  return absl::OkStatus();
}

// Integer weights are useful only if the data are integers.
absl::Status CheckData(RuleContext& context, const Node& contraction) {
  const Node* n = &context.node(contraction.inputs[0]);
  // op names: what stands between the two in models.
  while (n->op == "Pad" || n->op == "Reshape" || n->op == "MaxPool")
    n = &context.node(n->inputs[0]);
  if (n->op == "Dequantize") return absl::OkStatus();
  if (!Rounds(context.Candidate(n->id))) return WhyNot(absl::StrCat("the data come from ", n->op));
  TENON_ASSIGN_OR_RETURN(const Rounding r, ReadRounding(context, *n));
  if (r.axis >= 0) return WhyNot("the data have more than one range");
  return absl::OkStatus();
}

Outcome WeightsToIntegers(RuleContext& context, NodeId id) {
  const Node& n = context.node(id);
  if (n.inputs.size() < 2 || !Rounds(context.Candidate(n.inputs[1]))) return Outcome::NotMine();
  auto skip = [&](absl::string_view reason) { return Outcome::Skip(1, std::string(reason), id); };
  if (AttrOr<std::string>(n, "data_format", "NHWC") != "NHWC") return skip("not NHWC");
  const absl::Status data = CheckData(context, n);
  if (!data.ok()) return skip(data.message());
  auto weights = ReadWeights(context, n);
  if (!weights.ok()) return skip(weights.status().message());
  const absl::Status done = ReplaceWeights(context, id, *std::move(weights));
  return done.ok() ? Outcome::Fired() : skip(done.message());
}

const RuleRegistration weights_to_integers({
    .name = "FakeQuantWeights",
    .doc = "FakeQuant or QuantizeAndDequantize (8 bits, constant ranges, symmetric) of a "
           "contraction's constant weights becomes Dequantize of integers",
    .phase = Phase::kClean,
    .anchors = "Conv2D|DepthwiseConv2dNative|MatMul",
    .apply = WeightsToIntegers,
    .keeps_control_inputs = true,
});

const RuleRegistration data_to_integers({
    .name = "FakeQuantToIntegers",
    .doc = "FakeQuant or QuantizeAndDequantize (8 bits, a constant range) of data that a quantized "
           "contraction, sum, pool or move reads becomes Dequantize of integers",
    .phase = Phase::kClean,
    .anchors = "FakeQuantWithMinMaxVars|FakeQuantWithMinMaxArgs|QuantizeAndDequantize|"
               "QuantizeAndDequantizeV2|QuantizeAndDequantizeV3|QuantizeAndDequantizeV4",
    .apply = DataToIntegers,
    .after = "FakeQuantWeights",  // quantized weights make quantized data worthwhile
});

}  // namespace
}  // namespace tenon
