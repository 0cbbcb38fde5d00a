#include "tf_plugin/variable_use.h"

#include "absl/strings/string_view.h"
#include "tf_plugin/control_regions.h"

namespace tenon::plugin {
namespace {

bool OnlyReads(absl::string_view op) {
  // op names: what TensorFlow does with a variable that leaves its value as it is.
  static const auto* const kOps =
      new HashSet<absl::string_view>({"ReadVariableOp", "ResourceGather", "ResourceGatherNd",
                                      "VariableShape", "VarIsInitializedOp"});
  return kOps->contains(op);
}

}  // namespace

bool GivesValue(absl::string_view op) {
  return op == "ReadVariableOp" || op == "ResourceGather";  // op names: what a part can do itself
}

Endpoint VariableUse::Source(const Endpoint& e) const {
  const auto passed = passed_on_.find(e.node);
  return passed == passed_on_.end() ? e : passed->second;
}

void VariableUse::Note(const Node& n) {
  if (n.inputs.empty()) return;
  const absl::string_view op = process_.OpOf(n.id);
  const Endpoint variable = Source(n.inputs[0]);
  if (OnlyReads(op)) {
    if (op == "VarIsInitializedOp") asked_.insert(variable);
    const Node* const read = GivesValue(op) ? process_.Movable(n.id) : nullptr;
    if (read != nullptr) dtypes_[variable] = *read->attr<DType>("dtype");
    return;
  }
  // Control flow passes on what it gets first; the other input of a Switch is a condition.
  const bool is_switch = op == "Switch" || op == "_SwitchN";
  if (is_switch || (n.inputs.size() == 1 && (IsControlFlow(op) || op == "Identity"))) {
    passed_on_[n.id] = variable;
    return;
  }
  for (const Endpoint& e : n.inputs) writers_[Source(e)].push_back(n.id);
}

DType VariableUse::ValueOf(const Endpoint& handle) const {
  const Endpoint variable = Source(handle);
  if (asked_.contains(variable)) return DType::kInvalid;
  const auto dtype = dtypes_.find(variable);
  return dtype == dtypes_.end() ? DType::kInvalid : dtype->second;
}

absl::Span<const NodeId> VariableUse::WritersOf(const Endpoint& handle) const {
  const auto writers = writers_.find(Source(handle));
  if (writers == writers_.end()) return {};
  return writers->second;
}

bool VariableUse::ReadsConstant(NodeId id) const {
  const Node& n = graph_.node(id);
  return process_.OpOf(id) == "ReadVariableOp" && !n.inputs.empty() &&
         WritersOf(n.inputs[0]).empty();
}

}  // namespace tenon::plugin
