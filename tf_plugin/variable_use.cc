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
    const Node* const read = op == "ReadVariableOp" ? process_.Movable(n.id) : nullptr;
    if (read != nullptr) dtypes_[variable] = *read->attr<DType>("dtype");
    return;
  }
  // Control flow passes on what it gets first; the other input of a Switch is a condition.
  const bool is_switch = op == "Switch" || op == "_SwitchN";
  if (is_switch || (n.inputs.size() == 1 && (IsControlFlow(op) || op == "Identity"))) {
    passed_on_[n.id] = variable;
    return;
  }
  for (const Endpoint& e : n.inputs) written_.insert(Source(e));
}

bool VariableUse::ReadsChanging(NodeId id) const {
  const Node& n = graph_.node(id);
  return process_.OpOf(id) == "ReadVariableOp" && !n.inputs.empty() &&
         written_.contains(Source(n.inputs[0]));
}

DType VariableUse::ConstantOf(const Endpoint& handle) const {
  const Endpoint variable = Source(handle);
  if (written_.contains(variable) || asked_.contains(variable)) return DType::kInvalid;
  const auto dtype = dtypes_.find(variable);
  return dtype == dtypes_.end() ? DType::kInvalid : dtype->second;
}

DType VariableUse::ReadsConstant(NodeId id) const {
  const Node& n = graph_.node(id);
  if (process_.OpOf(id) != "ReadVariableOp" || n.inputs.empty()) return DType::kInvalid;
  return ConstantOf(n.inputs[0]);
}

}  // namespace tenon::plugin
