#include "proto/process/variable_shapes.h"

#include <string>
#include <vector>

#include "env/containers.h"
#include "env/status.h"
#include "graph/tensor.h"
#include "proto/messages/attr_proto.h"

namespace tenon {
namespace {

absl::Status MakeConst(const Shape& shape, DType dtype, tf::NodeDef& node) {
  const absl::Span<const int64_t> dims = shape.dims();
  Tensor value = Tensor::Vector<int64_t>({dims.begin(), dims.end()});
  if (dtype == DType::kInt32) value = Tensor::Vector<int32_t>({dims.begin(), dims.end()});
  node.set_op("Const");
  node.clear_attr();
  node.mutable_input()->DeleteSubrange(0, 1);  // what follows are control inputs
  for (const auto& [key, attr] :
       {std::pair("dtype", AttrValue(dtype)), std::pair("value", AttrValue(std::move(value)))}) {
    tf::AttrEntry& entry = *node.add_attr();
    entry.set_key(key);
    TENON_RETURN_IF_ERROR(AttrToProto(attr, *entry.mutable_value()));
  }
  return absl::OkStatus();
}

DType ShapeDType(const tf::NodeDef& node) {
  for (const tf::AttrEntry& entry : node.attr()) {
    if (entry.key() == "out_type" && entry.value().type() == tf::DT_INT64) return DType::kInt64;
  }
  return DType::kInt32;
}

// Nodes that make handles, by name, and those that pass a handle on into loops and branches, with
// what they pass on.
using Handles = HashMap<absl::string_view, absl::string_view>;

Handles HandlesIn(const tf::GraphDef& graph) {
  Handles handles;
  for (const tf::NodeDef& node : graph.node()) {
    const std::string& op = node.op();
    // op names: what passes its input on
    if (node.input_size() == 0) {
      handles.emplace(node.name(), "");
    } else if (op == "Enter" || op == "Switch" || op == "Identity") {
      handles.emplace(node.name(), node.input(0));
    }
  }
  return handles;
}

// The node that makes what `input` names; empty if it is not known.
absl::string_view MakerOf(absl::string_view input, const Handles& handles) {
  constexpr int kMostNested = 64;
  for (int i = 0; i < kMostNested; ++i) {
    const auto found = handles.find(input.substr(0, input.find(':')));
    if (found == handles.end()) return "";
    if (found->second.empty()) return found->first;
    input = found->second;
  }
  return "";
}

}  // namespace

absl::StatusOr<HashSet<std::string>> FoldVariableShapes(const ProcessGraphOptions& options,
                                                        tf::GraphDef& graph) {
  std::vector<tf::NodeDef*> asking;
  for (tf::NodeDef& node : *graph.mutable_node()) {
    if (node.op() == "VariableShape" && node.input_size() > 0) asking.push_back(&node);
  }
  HashSet<std::string> folded;
  if (asking.empty()) return folded;
  const Handles handles = HandlesIn(graph);
  HashMap<absl::string_view, Shape> shapes;  // by the node that makes the handle
  for (const tf::NodeDef& node : graph.node()) {
    if (node.op() != "ReadVariableOp" || node.input_size() == 0) continue;
    const absl::string_view maker = MakerOf(node.input(0), handles);
    if (maker.empty()) continue;
    const std::vector<TensorSpec> outputs = options.outputs(node.name());
    if (outputs.size() == 1 && outputs[0].shape.IsComplete()) {
      shapes.emplace(maker, outputs[0].shape);
    }
  }
  for (tf::NodeDef* node : asking) {
    const absl::string_view maker = MakerOf(node->input(0), handles);
    const auto shape = shapes.find(maker);
    // In loops and branches, a Const would have to wait for what they begin with.
    if (shape == shapes.end() || maker != node->input(0)) continue;
    TENON_RETURN_IF_ERROR(MakeConst(shape->second, ShapeDType(*node), *node));
    folded.insert(node->name());
  }
  return folded;
}

}  // namespace tenon
