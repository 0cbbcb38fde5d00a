#include "proto/process/process_extract.h"

#include <google/protobuf/arena.h>

#include <utility>

#include "absl/strings/match.h"
#include "env/containers.h"
#include "env/status.h"
#include "proto/messages/attr_proto.h"
#include "proto/messages/tenon_graph.pb.h"

namespace tenon {
namespace {

class Extractor {
 public:
  Extractor(const Graph& graph, const std::vector<ProcessOriginal>& originals,
            const ProcessPart& part)
      : graph_(graph), originals_(originals), part_(part) {
    out_ = google::protobuf::Arena::CreateMessage<tf::GraphDef>(&arena_);
  }

  absl::StatusOr<ProcessExtract> Run() {
    ProcessExtract result;
    for (const NodeId id : part_.nodes) NameOf(id);
    for (const ProcessPart::Input& input : part_.inputs) {
      TENON_ASSIGN_OR_RETURN(result.feeds.emplace_back(), AddPlaceholder(input));
    }
    for (const NodeId id : part_.nodes) TENON_RETURN_IF_ERROR(AddNode(id));
    for (const NodeId id : constants_) TENON_RETURN_IF_ERROR(AddNode(id));
    for (const Endpoint& e : part_.outputs) result.fetches.push_back(TextOf(e));
    if (!out_->SerializeToString(&result.graph_def)) return Internal("the part is too large");
    return result;
  }

 private:
  const ProcessOriginal& OriginalOf(NodeId id) const { return originals_[static_cast<size_t>(id)]; }

  std::string FreshName(std::string name) {
    while (!taken_.insert(name).second) name += "_";
    return name;
  }

  const std::string& NameOf(NodeId id) {
    std::string& name = names_[id];
    if (name.empty()) name = FreshName(graph_.node(id).name);
    return name;
  }

  std::string TextOf(const Endpoint& e) {
    if (const auto input = placeholders_.find(e); input != placeholders_.end()) {
      return input->second;
    }
    const std::string& name = NameOf(e.node);
    return e.port == 0 ? name : absl::StrCat(name, ":", e.port);
  }

  static absl::Status AddAttr(const std::string& key, const AttrValue& value, tf::NodeDef& def) {
    tf::AttrEntry& entry = *def.add_attr();
    entry.set_key(key);
    return AttrToProto(value, *entry.mutable_value());
  }

  absl::StatusOr<std::string> AddPlaceholder(const ProcessPart::Input& input) {
    const std::string& source = graph_.node(input.source.node).name;
    std::string& name = placeholders_[input.source];
    name =
        FreshName(input.source.port == 0 ? source : absl::StrCat(source, "_", input.source.port));
    tf::NodeDef& def = *out_->add_node();
    def.set_name(name);
    def.set_op("Placeholder");
    TENON_RETURN_IF_ERROR(AddAttr("dtype", input.spec.dtype, def));
    TENON_RETURN_IF_ERROR(AddAttr("shape", input.spec.shape, def));
    return name;
  }

  absl::Status AddNode(NodeId id) {
    const Node& n = graph_.node(id);
    const ProcessOriginal& original = OriginalOf(id);
    tf::NodeDef& def = *out_->add_node();
    def.set_name(NameOf(id));
    const auto value = part_.values.find(id);
    const std::string& op = original.def->op();
    const bool reads = value != part_.values.end() && op == "ReadVariableOp";
    const bool gathers = value != part_.values.end() && op == "ResourceGather";
    def.set_op(reads ? "Identity" : gathers ? "Gather" : op);
    AddInputs(original, def);
    if (n.op == "Const") {  // its value has been moved out of its message
      for (const char* key : {"dtype", "value"}) {
        TENON_RETURN_IF_ERROR(AddAttr(key, n.attrs.at(key), def));
      }
      return absl::OkStatus();
    }
    if (reads) return AddAttr("T", value->second, def);
    if (gathers) {
      TENON_RETURN_IF_ERROR(AddAttr("Tparams", value->second, def));
      return AddAttr("Tindices", OriginalOf(id).movable.attrs.at("Tindices"), def);
    }
    for (const tf::AttrEntry& entry : original.def->attr()) {
      if (absl::StartsWith(entry.key(), "_")) continue;
      if (value != part_.values.end() && entry.key() == "T") {
        TENON_RETURN_IF_ERROR(AddAttr("T", value->second, def));
      } else {
        *def.add_attr() = entry;
      }
    }
    return absl::OkStatus();
  }

  void AddInputs(const ProcessOriginal& original, tf::NodeDef& def) {
    size_t cut = 0;
    for (const Endpoint& e : original.inputs) {
      if (e.node == kNoNode) {  // a loop's back edge
        def.add_input(original.cut[cut++].second);
        continue;
      }
      if (!placeholders_.contains(e) && !names_.contains(e.node)) constants_.push_back(e.node);
      def.add_input(TextOf(e));
    }
    for (const NodeId c : original.controls) {
      if (names_.contains(c)) def.add_input(absl::StrCat("^", NameOf(c)));
    }
  }

  const Graph& graph_;
  const std::vector<ProcessOriginal>& originals_;
  const ProcessPart& part_;
  google::protobuf::Arena arena_;
  tf::GraphDef* out_ = nullptr;
  HashMap<Endpoint, std::string> placeholders_;
  HashMap<NodeId, std::string> names_;  // of the nodes that the part has
  HashSet<std::string> taken_;
  std::vector<NodeId> constants_;  // which are read, and are not nodes of the part
};

}  // namespace

absl::StatusOr<ProcessExtract> ExtractPart(const Graph& graph,
                                           const std::vector<ProcessOriginal>& originals,
                                           const ProcessPart& part) {
  return Extractor(graph, originals, part).Run();
}

}  // namespace tenon
