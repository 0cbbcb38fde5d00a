// The gradient of a Pad: a Slice of the gradient of the convolution's input. It becomes the
// gradient of a convolution with explicit padding, which does not compute the part that is cut off.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

// The `count` elements of a constant; empty if it is not one.
std::vector<int64_t> ConstantValues(const RuleContext& context, Endpoint e, size_t count) {
  const Tensor* t = context.Constant(e);
  if (t == nullptr) return {};
  auto values = IntegerValues(*t);
  if (!values.ok() || values->size() != count) return {};
  return *std::move(values);
}

// The tensor whose shape is `e`, or none.
Endpoint ShapeSource(const RuleContext& context, Endpoint e) {
  const Node& n = context.node(e);
  return n.op == "Shape" ? n.inputs[0] : Endpoint{kNoNode, 0};
}

// The constant paddings (before, after for each dimension) if `padded` is the shape of a Pad of the
// tensor that has the shape `plain`; otherwise empty.
std::vector<int64_t> PaddingsBetween(const RuleContext& context, Endpoint padded, Endpoint plain) {
  const Endpoint pad = ShapeSource(context, padded), x = ShapeSource(context, plain);
  if (pad.node == kNoNode || x.node == kNoNode) return {};
  const Node& n = context.node(pad);
  if ((n.op != "Pad" && n.op != "PadV2") || n.inputs[0] != x) return {};
  return ConstantValues(context, n.inputs[1], 8);
}

// The elements cut off before and after each dimension of `conv`'s gradient; empty if not known.
std::vector<int64_t> CutOff(RuleContext& context, const Node& conv, const Node& slice) {
  const std::vector<int64_t> begin = ConstantValues(context, slice.inputs[1], 4);
  if (begin.empty()) return {};
  std::vector<int64_t> cut = PaddingsBetween(context, conv.inputs[0], slice.inputs[2]);
  if (!cut.empty()) {
    for (size_t d = 0; d < 4; ++d) {
      if (cut[2 * d] != begin[d] || cut[2 * d + 1] < 0) return {};
    }
    return cut;
  }
  const Shape& whole = context.shapes.shape(slice.inputs[0]);
  const Shape& part = context.shapes.shape({slice.id, 0});
  if (!whole.IsComplete() || !part.IsComplete() || whole.rank() != 4 || part.rank() != 4) return {};
  for (int d = 0; d < 4; ++d) {
    const int64_t before = begin[static_cast<size_t>(d)], after = whole[d] - before - part[d];
    if (before < 0 || after < 0) return {};
    cut.insert(cut.end(), {before, after});
  }
  return cut;
}

Outcome SliceIntoConv(RuleContext& context, NodeId id) {
  const Node& slice = context.node(id);
  if (slice.inputs.size() != 3 || slice.inputs[0].port != 0) return Outcome::NotMine();
  const Node& conv = context.Candidate(slice.inputs[0]);
  if (conv.op != "Conv2DBackpropInput" && conv.op != "DepthwiseConv2dNativeBackpropInput") {
    return Outcome::NotMine();
  }
  const auto skip = [&](absl::string_view why) {
    return Outcome::Skip(2, absl::StrCat("'", conv.name, "' (", conv.op, "): ", why), conv.id);
  };
  if (!context.HasOnlyReader(conv.id, id)) return Outcome::NotMine();
  const std::string* format = conv.attr<std::string>("data_format");
  const std::string* padding = conv.attr<std::string>("padding");
  if (format == nullptr || format->size() != 4) return skip("of another format");
  const auto* own = conv.attr<std::vector<int64_t>>("explicit_paddings");
  std::vector<int64_t> pads(8, 0);
  if (padding != nullptr && *padding == "EXPLICIT" && own != nullptr && own->size() == 8) {
    pads = *own;
  } else if (padding == nullptr || *padding != "VALID") {
    return skip("its padding is SAME, which counts the padded size");
  }
  const std::vector<int64_t> cut = CutOff(context, conv, slice);
  if (cut.empty()) return skip("the part that is cut off is not known");
  const size_t channel = *format == "NHWC" ? 3 : 1;
  for (size_t d : {size_t{0}, channel}) {
    if (cut[2 * d] != 0 || cut[2 * d + 1] != 0) return skip("it cuts the batch or the channels");
  }
  for (size_t i = 0; i < cut.size(); ++i) pads[i] += cut[i];
  // It becomes the gradient's sizes, which are int32, so it must not be "the rest".
  if (context.shapes.dtype(slice.inputs[2]) != DType::kInt32) return skip("its sizes are int64");
  const std::vector<int64_t> size = ConstantValues(context, slice.inputs[2], 4);
  if (std::find(size.begin(), size.end(), -1) != size.end()) return skip("a size is -1");

  const NodeId old = conv.id;
  Node fused = conv;
  fused.id = kNoNode;
  fused.name = slice.name;
  fused.inputs[0] = slice.inputs[2];
  fused.attrs["padding"] = std::string("EXPLICIT");
  fused.attrs["explicit_paddings"] = pads;
  auto added = context.AddNode(std::move(fused));
  if (!added.ok()) return skip(added.status().message());
  context.rw.ReplaceNode(id, {*added, 0});
  context.RemoveIfDead(old);
  return Outcome::Fired();
}

const RuleRegistration unpad({
    .name = "FusePadGradient",
    .doc = "a Slice of the gradient of a convolution's input becomes the gradient of a convolution "
           "that pads",
    .phase = Phase::kFuse,
    .dtypes = "float bfloat16",
    .anchors = "Slice",
    .apply = SliceIntoConv,
});

}  // namespace
}  // namespace tenon
