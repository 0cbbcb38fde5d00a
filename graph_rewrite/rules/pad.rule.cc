// Fuses pads into the op after them, as padding="EXPLICIT".
//
// Pads of the batch or channel dimension are never fused. A max pool pads with the lowest value,
// not with zero, so a zero pad is fused only if its input is known to be zero or more, and every
// window sees at least one element (each pad is smaller than the window).
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph_rewrite/elements.h"
#include "graph_rewrite/rule.h"
#include "graph_rewrite/sign.h"
#include "ops/op.h"

namespace tenon {
namespace {

// A pad of the spatial dimensions, with constant values.
struct SpatialPad {
  std::vector<int64_t> values;  // (before, after) for every dimension
  double fill = 0;
};

absl::StatusOr<SpatialPad> ReadPad(RuleContext& context, const Node& pad, const Node& reader) {
  SpatialPad out;
  const Tensor* t = context.Constant(pad.inputs[1]);
  if (t == nullptr) return WhyNot("the paddings are not constant");
  auto values = IntegerValues(*t);
  if (!values.ok()) return values.status();
  out.values = *std::move(values);
  const std::string* format = reader.attr<std::string>("data_format");
  if (format == nullptr) return WhyNot("of another format");
  const size_t rank = format->size();
  if (*format != "NHWC" && *format != "NCHW" && *format != "NDHWC" && *format != "NCDHW") {
    return WhyNot("of another format");
  }
  if (out.values.size() != 2 * rank) return WhyNot("the paddings are for another rank");
  const size_t channel = (*format)[1] == 'C' ? 1 : rank - 1;
  for (size_t d : {size_t{0}, channel}) {
    if (out.values[2 * d] != 0 || out.values[2 * d + 1] != 0) {
      return WhyNot("it pads the batch or the channels");
    }
  }
  if (std::any_of(out.values.begin(), out.values.end(), [](int64_t v) { return v < 0; })) {
    return WhyNot("a padding is negative");
  }
  if (pad.op == "PadV2") {
    const Tensor* fill = context.Constant(pad.inputs[2]);
    if (fill == nullptr || fill->num_elements() != 1 || !IsFloating(fill->dtype())) {
      return WhyNot("the fill value is not constant");
    }
    out.fill = FloatElement(*fill, 0);
  }
  return out;
}

// The reader's own explicit pads, as many as it would absorb; zeros for VALID.
absl::StatusOr<std::vector<int64_t>> OwnPads(const Node& n, const SpatialPad& pad) {
  const size_t count = pad.values.size();
  const std::string* padding = n.attr<std::string>("padding");
  if (padding == nullptr) return WhyNot("it has no padding");
  if (*padding == "VALID") return std::vector<int64_t>(count, 0);
  const auto* pads = n.attr<std::vector<int64_t>>("explicit_paddings");
  if (*padding == "EXPLICIT" && pads != nullptr && pads->size() == count) return *pads;
  return WhyNot("its padding is SAME, which counts the padded size");
}

Outcome Absorb(RuleContext& context, NodeId id, const SpatialPad& pad,
               const std::vector<int64_t>& own) {
  const NodeId old = context.node(id).inputs[0].node;
  std::vector<int64_t> sum = own;
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += pad.values[i];
  context.rw.SetAttr(id, "padding", "EXPLICIT");
  context.rw.SetAttr(id, "explicit_paddings", std::move(sum));
  context.rw.SetInput(id, 0, context.node(old).inputs[0]);
  context.RemoveIfDead(old);
  return Outcome::Fired();
}

// The Pad that `id` reads; null if there is none, or it must stay as it is.
const Node* PadBefore(RuleContext& context, NodeId id) {
  const Node& n = context.node(id);
  if (n.inputs.empty() || n.inputs[0].port != 0) return nullptr;
  const Node& pad = context.Candidate(n.inputs[0]);
  return pad.op == "Pad" || pad.op == "PadV2" ? &pad : nullptr;
}

Outcome PadIntoConv(RuleContext& context, NodeId id) {
  const Node* pad = PadBefore(context, id);
  if (pad == nullptr) return Outcome::NotMine();
  const Node& conv = context.node(id);
  auto skip = [&](absl::string_view reason) {
    return Outcome::Skip(2, absl::StrCat("'", pad->name, "' (", pad->op, "): ", reason), pad->id);
  };
  const DType* dtype = conv.attr<DType>("T");
  if (absl::EndsWith(conv.op, "BackpropFilter") &&
      (dtype == nullptr || (*dtype != DType::kFloat && *dtype != DType::kBfloat16))) {
    return skip("the gradient is neither float nor bfloat16");
  }
  auto pads = ReadPad(context, *pad, conv);
  if (!pads.ok()) return skip(pads.status().message());
  if (pads->fill != 0) return skip("it does not pad with zeros");
  auto own = OwnPads(conv, *pads);
  if (!own.ok()) return skip(own.status().message());
  return Absorb(context, id, *pads, *own);
}

const RuleRegistration conv({
    .name = "FusePadConv",
    .doc = "a zero Pad of the spatial dimensions is fused into the convolution, or the gradient of "
           "its "
           "filter, that reads it",
    .phase = Phase::kFuse,
    .anchors = "Conv2D|_FusedConv2D|DepthwiseConv2dNative|_FusedDepthwiseConv2dNative|"
               "Conv3D|_FusedConv3D|Conv2DBackpropFilter|DepthwiseConv2dNativeBackpropFilter",
    .apply = PadIntoConv,
});

// Passes the paddings of a Pad, if they are computed, to the convolution as another input.
Outcome ComputedPadIntoConv(RuleContext& context, NodeId id) {
  const Node* pad = PadBefore(context, id);
  if (pad == nullptr || pad->op != "Pad" || context.Constant(pad->inputs[1]) != nullptr) {
    return Outcome::NotMine();
  }
  const Node& conv = context.node(id);
  auto skip = [&](absl::string_view reason) {
    return Outcome::Skip(2, absl::StrCat("'", pad->name, "' (", pad->op, "): ", reason), pad->id);
  };
  const std::string* padding = conv.attr<std::string>("padding");
  if (padding == nullptr || *padding != "VALID") return skip("the convolution pads too");
  if (!context.HasOnlyReader(pad->id, id)) return Outcome::NotMine();

  Node fused;
  fused.name = conv.name;
  fused.op = "_PadWithFusedConv2D";
  fused.device = conv.device;
  fused.attrs = conv.attrs;
  fused.attrs["num_args"] = static_cast<int64_t>(conv.inputs.size()) - 2;
  if (const DType* t = pad->attr<DType>("Tpaddings")) fused.attrs["Tpaddings"] = *t;
  fused.inputs = conv.inputs;
  fused.inputs[0] = pad->inputs[0];
  fused.inputs.push_back(pad->inputs[1]);
  const NodeId old = pad->id;
  auto added = context.AddNode(std::move(fused));
  if (!added.ok()) return skip(added.status().message());
  context.rw.ReplaceNode(id, {*added, 0});
  context.RemoveIfDead(old);
  return Outcome::Fired();
}

const RuleRegistration computed_pad({
    .name = "FuseComputedPadConv2D",
    .doc = "a Pad with computed paddings is fused into the Conv2D that alone reads it",
    .phase = Phase::kFuse,
    .anchors = "Conv2D|_FusedConv2D",
    .apply = ComputedPadIntoConv,
    .last = true,
});

Outcome PadIntoMaxPool(RuleContext& context, NodeId id) {
  const Node* pad = PadBefore(context, id);
  if (pad == nullptr) return Outcome::NotMine();
  const Node& pool = context.node(id);
  auto skip = [&](absl::string_view reason) {
    return Outcome::Skip(2, absl::StrCat("'", pad->name, "' (", pad->op, "): ", reason), pad->id);
  };
  auto pads = ReadPad(context, *pad, pool);
  if (!pads.ok()) return skip(pads.status().message());
  auto own = OwnPads(pool, *pads);
  if (!own.ok()) return skip(own.status().message());
  // The pool pads with the lowest value, so any fill at or below that of every float is equivalent.
  const bool lowest = pads->fill <= std::numeric_limits<float>::lowest();
  if (!lowest && !(pads->fill == 0 && IsNeverNegative(context, pad->inputs[0]))) {
    return skip("its input may be below the fill value");
  }
  const auto* ksize = pool.attr<std::vector<int64_t>>("ksize");
  if (ksize == nullptr || ksize->size() != 4) return skip("the window is not known");
  for (size_t i = 0; i < 8; ++i) {
    if (pads->values[i] + (*own)[i] > 0 && pads->values[i] + (*own)[i] >= (*ksize)[i / 2]) {
      return skip("a window could lie in the padding");
    }
  }
  return Absorb(context, id, *pads, *own);
}

const RuleRegistration pool({
    .name = "FusePadMaxPool",
    .doc = "a Pad whose input is never less than its fill is fused into the max pool that reads it",
    .phase = Phase::kFuse,
    .anchors = "MaxPool",
    .apply = PadIntoMaxPool,
});

}  // namespace
}  // namespace tenon
