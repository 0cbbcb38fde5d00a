// Blocks of mobile networks expand an image to many channels by a 1x1 convolution, filter each of
// these by a depthwise one, and project the result to few channels by another 1x1 convolution.
// Together they are computed line by line, and what is between them stays in the caches. The last
// one may be missing.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "graph_rewrite/contraction.h"
#include "graph_rewrite/rule.h"

namespace tenon {
namespace {

// Of an image between the convolutions, if its size is known: smaller ones stay in the caches.
constexpr int64_t kLeastElements = int64_t{1} << 17;

using Strings = std::vector<std::string>;

bool IsConvolution(const Node& n) { return n.op == "Conv2D" || n.op == "_FusedConv2D"; }

// A block's chains have no batch normalization of their own.
absl::Status HasPlainChain(const Node& conv) {
  const auto* ops = conv.attr<Strings>("fused_ops");
  // op names: batch normalization, as fused_ops have it.
  if (ops != nullptr && std::find(ops->begin(), ops->end(), "FusedBatchNorm") != ops->end()) {
    return WhyNot("a batch norm that is not folded follows it");
  }
  return absl::OkStatus();
}

// Whether an image may be too large for the caches.
bool MayBeLarge(RuleContext& context, NodeId id) {
  const Shape& image = context.shapes.shape({id, 0});
  if (image.rank() != 4 || image[1] < 0 || image[2] < 0 || image[3] < 0) return true;
  return image[1] * image[2] * image[3] >= kLeastElements;
}

struct BlockNodes {
  NodeId expand = kNoNode, project = kNoNode;
};

// The convolutions around a depthwise one.
absl::StatusOr<BlockNodes> FindBlock(RuleContext& context, const Node& depthwise) {
  const auto* format = depthwise.attr<std::string>("data_format");
  if (format == nullptr || *format != "NHWC") return WhyNot("its channels are not last");
  TENON_RETURN_IF_ERROR(HasPlainChain(depthwise));
  BlockNodes block;
  const Node& before = context.Candidate(depthwise.inputs[0]);
  if (!IsConvolution(before)) return WhyNot("no convolution is before it");
  TENON_RETURN_IF_ERROR(IsPointwise(context, before));
  TENON_RETURN_IF_ERROR(HasPlainChain(before));
  if (!MayBeLarge(context, before.id)) return WhyNot("the image between the convolutions is small");
  if (!context.HasOnlyReader(before.id, depthwise.id)) {
    return WhyNot("other nodes read the image between the convolutions");
  }
  block.expand = before.id;
  const NodeId reader = context.OnlyReader(depthwise.id);
  if (reader == kNoNode) return block;
  const Node& after = context.Candidate(reader);
  const bool projects = IsConvolution(after) && after.inputs[0] == Endpoint{depthwise.id, 0};
  if (projects && IsPointwise(context, after).ok() && HasPlainChain(after).ok()) {
    block.project = reader;
  }
  return block;
}

// Gives the block's node what one of its stages has.
void AddStage(const Node& conv, const std::string& stage, Node& block,
              std::vector<Endpoint>& operands) {
  block.inputs.push_back(conv.inputs[1]);
  operands.insert(operands.end(), conv.inputs.begin() + 2, conv.inputs.end());
  block.attrs["num_" + stage + "_args"] = static_cast<int64_t>(conv.inputs.size() - 2);
  if (const auto* ops = conv.attr<Strings>("fused_ops")) block.attrs[stage + "_ops"] = *ops;
  if (const float* alpha = conv.attr<float>("leakyrelu_alpha")) {
    block.attrs[stage + "_alpha"] = *alpha;
  }
}

Outcome JoinBlock(RuleContext& context, NodeId id) {
  const Node depthwise = context.node(id);  // copies: adding nodes moves the others
  const auto found = FindBlock(context, depthwise);
  if (!found.ok()) return Outcome::Skip(1, std::string(found.status().message()), id);
  const Node expand = context.node(found->expand);
  const bool projects = found->project != kNoNode;
  const NodeId last = projects ? found->project : id;

  Node block;
  block.name = context.node(last).name;
  block.op = "_FusedInvertedResidual";
  for (const char* same :
       {"T", "strides", "padding", "explicit_paddings", "data_format", "dilations"}) {
    const auto it = depthwise.attrs.find(same);
    if (it != depthwise.attrs.end()) block.attrs[same] = it->second;
  }
  block.inputs = {expand.inputs[0]};
  std::vector<Endpoint> operands;
  AddStage(expand, "expand", block, operands);
  AddStage(depthwise, "depthwise", block, operands);
  block.attrs["num_project"] = int64_t{projects};
  block.attrs["num_project_args"] = int64_t{0};
  if (projects) AddStage(context.node(last), "project", block, operands);
  block.inputs.insert(block.inputs.end(), operands.begin(), operands.end());

  const auto added = context.AddNode(std::move(block));
  if (!added.ok()) return Outcome::Skip(3, std::string(added.status().message()), id);
  context.rw.ReplaceNode(last, {*added, 0});
  if (projects) context.RemoveIfDead(id);
  context.RemoveIfDead(found->expand);
  return Outcome::Fired();
}

const RuleRegistration block({
    .name = "JoinInvertedResidual",
    .doc = "a depthwise convolution and the 1x1 convolutions before and after it are computed line "
           "by line",
    .phase = Phase::kRename,
    .dtypes = "float",
    .anchors = "DepthwiseConv2dNative|_FusedDepthwiseConv2dNative",
    .apply = JoinBlock,
});

}  // namespace
}  // namespace tenon
