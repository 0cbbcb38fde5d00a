#include "proto/process/process_write.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "env/containers.h"
#include "env/status.h"
#include "ops/op.h"
#include "proto/messages/attr_proto.h"
#include "proto/messages/tenon_graph.pb.h"

namespace tenon {

std::vector<NodeId> ProcessWriter::LeftOf(NodeId original) const {
  std::vector<NodeId> left, stack = {original};
  HashSet<NodeId> seen = {original};
  while (!stack.empty()) {
    const NodeId id = stack.back();
    stack.pop_back();
    if (graph_.Has(id)) {
      left.push_back(id);
      continue;
    }
    const auto see = [&](NodeId source) {
      if (source != kNoNode && seen.insert(source).second) stack.push_back(source);
    };
    for (const Endpoint& e : OriginalOf(id)->inputs) see(e.node);
    for (const NodeId c : OriginalOf(id)->controls) see(c);
  }
  return left;
}

absl::StatusOr<std::vector<NodeId>> ProcessWriter::Anchors(NodeId constant) const {
  for (NodeId id : graph_.NodeIds()) {
    const Node& n = graph_.node(id);
    const auto reads = [&](const Endpoint& e) { return e.node == constant; };
    const auto input = std::find_if(n.inputs.begin(), n.inputs.end(), reads);
    if (input == n.inputs.end()) continue;
    const ProcessOriginal* const original = OriginalOf(id);
    const auto before = [&] {
      return LeftOf(original->inputs[static_cast<size_t>(input - n.inputs.begin())].node);
    };
    if (original != nullptr && original->def->op() == "Merge") return before();
    for (const Endpoint& e : n.inputs) {
      if (graph_.node(e.node).op != "Const" || OriginalOf(e.node) != nullptr) {
        return std::vector<NodeId>{e.node};
      }
    }
    if (!n.control_inputs.empty()) return std::vector<NodeId>{n.control_inputs[0]};
    if (original != nullptr) return before();  // an Enter
    return Unimplemented("cannot determine the branch of the constant '",
                         graph_.node(constant).name, "' is");
  }
  return std::vector<NodeId>();
}

std::vector<int64_t> ProcessWriter::StableInputs(const Node& n) const {
  if (const auto* known = n.attr<std::vector<int64_t>>(kStableInputsAttr)) return *known;
  std::vector<int64_t> stable;
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    const Node& source = graph_.node(n.inputs[i].node);
    const ProcessOriginal* original = OriginalOf(source.id);
    const bool variable =
        original != nullptr && !original->known && original->def->op() == "ReadVariableOp";
    if (source.op == "Const" || variable) stable.push_back(static_cast<int64_t>(i));
  }
  return stable;
}

absl::Status ProcessWriter::WriteInputs(const Node& n, tf::NodeDef& def) const {
  def.clear_input();
  const ProcessOriginal* original = OriginalOf(n.id);
  size_t cut = 0;
  for (const Endpoint& e : n.inputs) {
    while (original != nullptr && cut < original->cut.size() &&
           original->cut[cut].first == def.input_size()) {
      def.add_input(original->cut[cut++].second);
    }
    const std::string& name = graph_.node(e.node).name;
    def.add_input(e.port == 0 ? name : absl::StrCat(name, ":", e.port));
  }
  while (original != nullptr && cut < original->cut.size()) {
    def.add_input(original->cut[cut++].second);
  }
  HashSet<NodeId> seen;
  for (NodeId c : n.control_inputs) {
    if (seen.insert(c).second) def.add_input(absl::StrCat("^", graph_.node(c).name));
  }
  if (branches_ && original == nullptr && n.op == "Const" && n.control_inputs.empty()) {
    TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> anchors, Anchors(n.id));
    for (const NodeId id : anchors) def.add_input(absl::StrCat("^", graph_.node(id).name));
  }
  return absl::OkStatus();
}

absl::Status ProcessWriter::WriteAttrs(const Node& n, const OpInfo& row, tf::NodeDef& def) const {
  // TensorFlow's internal attributes stay.
  google::protobuf::RepeatedPtrField<tf::AttrEntry> kept(def.GetArena());
  for (tf::AttrEntry& entry : *def.mutable_attr()) {
    if (absl::StartsWith(entry.key(), "_") && entry.key() != kStableInputsAttr) {
      kept.Add()->Swap(&entry);
    }
  }
  def.mutable_attr()->Swap(&kept);
  for (const AttrSpec& spec : row.signature.attrs) {
    const auto it = n.attrs.find(spec.name);
    if (it == n.attrs.end() || it->second.empty()) continue;
    tf::AttrEntry& entry = *def.add_attr();
    entry.set_key(spec.name);
    if (absl::Status s = AttrToProto(it->second, *entry.mutable_value()); !s.ok()) {
      return Annotate(s, absl::StrCat(NodeLabel(n), ": attribute '", spec.name, "'"));
    }
  }
  return absl::OkStatus();
}

absl::Status ProcessWriter::WriteNode(const Node& n, tf::NodeDef& def) const {
  const ProcessOriginal* original = OriginalOf(n.id);
  if (original != nullptr) def = *original->def;
  def.set_name(n.name);
  TENON_RETURN_IF_ERROR(WriteInputs(n, def));
  if (original != nullptr && !original->known) return absl::OkStatus();
  if (original == nullptr) def.set_device(n.device.empty() ? home_ : n.device);

  const OpLookup row = FindOp(n.op);
  if (!row) return Unimplemented("op ", n.op, " is not known");
  TENON_ASSIGN_OR_RETURN(const std::string name, names_.name(*row.info, n));
  const bool is_private = name != row.info->row.name;
  // A constant's value has been moved out of its message.
  const bool same = original != nullptr && name == original->def->op() && n.op != "Const" &&
                    n.attrs == original->attrs;
  def.set_op(name);
  if (!same) TENON_RETURN_IF_ERROR(WriteAttrs(n, *row.info, def));
  const std::vector<int64_t> stable =
      is_private && !same ? StableInputs(n) : std::vector<int64_t>();
  if (!stable.empty()) {
    tf::AttrEntry& entry = *def.add_attr();
    entry.set_key(kStableInputsAttr);
    return AttrToProto(AttrValue(stable), *entry.mutable_value());
  }
  return absl::OkStatus();
}

absl::Status ProcessWriter::Write(google::protobuf::RepeatedPtrField<tf::NodeDef>& nodes) const {
  for (NodeId id : graph_.NodeIds()) {
    TENON_RETURN_IF_ERROR(WriteNode(graph_.node(id), *nodes.Add()));
  }
  return absl::OkStatus();
}

}  // namespace tenon
