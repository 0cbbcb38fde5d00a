#include "proto/process/process_graph.h"

#include <google/protobuf/arena.h>

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "env/containers.h"
#include "env/status.h"
#include "graph/functions.h"
#include "graph/object.h"
#include "graph/rewriter.h"
#include "ops/op.h"
#include "proto/messages/attr_proto.h"
#include "proto/messages/tenon_graph.pb.h"
#include "proto/process/process_extract.h"
#include "proto/process/process_write.h"
#include "proto/process/variable_shapes.h"

namespace tenon {
namespace {

constexpr char kOpaque[] = "_Opaque";

struct InputText {
  std::string node;
  int port = 0;
};

absl::StatusOr<InputText> SplitInput(const std::string& text) {
  InputText input;
  const size_t colon = text.rfind(':');
  input.node = text.substr(0, colon);
  if (colon != std::string::npos && !absl::SimpleAtoi(text.substr(colon + 1), &input.port)) {
    return InvalidArgument("'", text, "' is not a tensor");
  }
  if (input.port < 0 || input.port > (1 << 20)) {
    return InvalidArgument("'", text, "' is not a tensor");
  }
  return input;
}

bool IsControl(const std::string& text) { return !text.empty() && text[0] == '^'; }

// op names: by spelling, for most have no rows.
bool GivesReferences(absl::string_view op) {
  return op == "Variable" || op == "VariableV2" || op == "TemporaryVariable" ||
         absl::StartsWith(op, "Ref") || absl::StartsWith(op, "Assign") ||
         absl::StartsWith(op, "Scatter");
}

// Of what must stay where it is because of its effects, these have none.
bool HasNoEffect(absl::string_view op) {
  // op names: control flow, which import understands, and what reads a variable.
  static const auto* const kOps = new HashSet<absl::string_view>(
      {"Switch", "_SwitchN", "Merge", "Enter", "Exit", "NextIteration", "LoopCond",
       "ReadVariableOp", "ResourceGather"});
  return kOps->contains(op);
}

// op names: what sends its input to one of several outputs.
bool IsSwitch(absl::string_view op) {
  return op == "Switch" || op == "RefSwitch" || op == "_SwitchN";
}

// Compiled by another compiler, so left alone.
bool IsCompiled(const tf::NodeDef& def) {
  return std::any_of(def.attr().begin(), def.attr().end(), [](const tf::AttrEntry& a) {
    return absl::StartsWith(a.key(), "_Xla") || absl::StartsWith(a.key(), "_xla") ||
           absl::StartsWith(a.key(), "_tpu");
  });
}

class Imported final : public ProcessGraph {
 public:
  explicit Imported(ProcessGraphOptions options) : options_(std::move(options)) {
    def_ = google::protobuf::Arena::CreateMessage<tf::GraphDef>(&arena_);
  }

  absl::Status Parse(absl::string_view bytes) {
    if (!def_->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
      return InvalidArgument("not a GraphDef");
    }
    return absl::OkStatus();
  }

  std::vector<std::string> Ops() const override {
    std::vector<std::string> ops;
    for (const tf::NodeDef& def : def_->node()) ops.push_back(def.op());
    return ops;
  }

  Graph& graph() override { return graph_; }
  absl::string_view OpOf(NodeId id) const override {
    const bool there = static_cast<size_t>(id) < originals_.size();
    return there ? originals_[static_cast<size_t>(id)].def->op() : absl::string_view();
  }
  const Node* Movable(NodeId id) const override {
    if (static_cast<size_t>(id) >= originals_.size()) return nullptr;
    const ProcessOriginal& original = originals_[static_cast<size_t>(id)];
    if (original.known) return &graph_.node(id);
    return original.movable.op.empty() ? nullptr : &original.movable;
  }
  absl::StatusOr<ProcessExtract> Extract(const ProcessPart& part) const override {
    return ExtractPart(graph_, originals_, part);
  }
  absl::Status Import() override;
  absl::StatusOr<std::string> Serialize() override {
    const ProcessWriter writer(graph_, originals_, options_.names, home_, has_branches_);
    google::protobuf::RepeatedPtrField<tf::NodeDef> nodes(&arena_);
    TENON_RETURN_IF_ERROR(RestoreFetches());
    if (has_branches_) SplitConstants();
    TENON_RETURN_IF_ERROR(writer.Write(nodes));
    def_->mutable_node()->Swap(&nodes);
    std::string bytes;
    if (!def_->SerializeToString(&bytes)) return Internal("the graph cannot be serialized");
    return bytes;
  }

 private:
  absl::Status ReadInputs();
  void ChooseHome();
  // The op's row if Tenon knows the node and need not leave it alone; `node` gets its attributes.
  const OpInfo* Readable(int i, Node& node);
  // The same if the rewriter may look into the node.
  const OpInfo* Known(int i, Node& node);
  std::vector<TensorSpec> OutputsOf(int i) const;
  absl::Status AddNodes();
  absl::Status RestoreFetches();
  // Gives each reader of a new constant its own: readers may be in different branches or loops.
  void SplitConstants();
  // Provides the tensors as outputs of a node with that name.
  absl::Status AddIdentity(const std::string& name, const std::vector<Endpoint>& sources);

  google::protobuf::Arena arena_;
  tf::GraphDef* def_ = nullptr;
  ProcessGraphOptions options_;
  TensorReader tensors_;
  Graph graph_;
  std::vector<ProcessOriginal> originals_;  // by NodeId
  HashMap<absl::string_view, int> by_name_;
  // Constants of which TensorFlow preserves the names, because it takes what they were for
  // stateful.
  HashSet<std::string> folded_;
  std::vector<int> ports_;  // number of outputs read, per node
  std::string home_;        // the device of new and changed nodes
  bool has_branches_ = false;
};

absl::Status Imported::ReadInputs() {
  const int n = def_->node_size();
  originals_.resize(static_cast<size_t>(n));
  ports_.assign(static_cast<size_t>(n), 0);
  for (int i = 0; i < n; ++i) {
    if (!by_name_.emplace(def_->node(i).name(), i).second) {
      return InvalidArgument("two nodes are named '", def_->node(i).name(), "'");
    }
  }
  for (int i = 0; i < n; ++i) {
    tf::NodeDef& def = *def_->mutable_node(i);
    ProcessOriginal& original = originals_[static_cast<size_t>(i)];
    original.def = &def;
    has_branches_ = has_branches_ || def.op() == "Enter" || IsSwitch(def.op());
    for (const std::string& text : def.input()) {
      const bool control = IsControl(text);
      TENON_ASSIGN_OR_RETURN(const InputText input, SplitInput(control ? text.substr(1) : text));
      auto source = by_name_.find(input.node);
      if (source == by_name_.end()) {
        return InvalidArgument("node '", def.name(), "' reads '", text, "', which is not there");
      }
      if (control) {
        original.controls.push_back(source->second);
        continue;
      }
      // A loop's back edge: written back unchanged, and otherwise ignored.
      if (def.op() == "Merge" && def_->node(source->second).op() == "NextIteration") {
        original.cut.emplace_back(static_cast<int>(original.inputs.size()), text);
        original.inputs.push_back({});
        continue;
      }
      int& ports = ports_[static_cast<size_t>(source->second)];
      ports = std::max(ports, input.port + 1);
      original.inputs.push_back({source->second, input.port});
    }
  }
  return absl::OkStatus();
}

void Imported::ChooseHome() {
  OrderedMap<std::string, int> devices;
  for (const tf::NodeDef& def : def_->node()) {
    if (options_.names.row(def.op()) != nullptr) ++devices[def.device()];
  }
  int most = 0;
  for (const auto& [device, count] : devices) {
    if (count <= most) continue;
    most = count;
    home_ = device;
  }
}

const OpInfo* Imported::Readable(int i, Node& node) {
  ProcessOriginal& original = originals_[static_cast<size_t>(i)];
  tf::NodeDef& def = *original.def;
  const OpInfo* row = options_.names.row(def.op());
  if (row == nullptr || def.op() == "Placeholder") return nullptr;
  const bool stateful = row->row.stateful || options_.names.stateful(def.op());
  if (stateful && !HasNoEffect(def.op())) return nullptr;
  if (def.device() != home_ || IsCompiled(def)) return nullptr;
  if (options_.preserved.contains(def.name()) && !options_.fetched.contains(def.name()) &&
      !folded_.contains(def.name())) {
    return nullptr;
  }
  for (const Endpoint& e : original.inputs) {
    if (e.node != kNoNode && GivesReferences(def_->node(e.node).op())) return nullptr;
  }
  absl::StatusOr<AttrMap> attrs = AttrsFromProto(*def.mutable_attr(), tensors_, nullptr);
  if (!attrs.ok()) return nullptr;
  node.op = row->row.name;
  node.attrs = *std::move(attrs);
  TypeEmptyLists(*row, node);
  if (!CompleteAttrs(*row, node).ok()) return nullptr;
  bool calls = false;
  ForEachNamedFunction(node, [&](const FuncRef&) { calls = true; });
  if (calls) return nullptr;
  const auto inputs = InputDTypes(*row, node);
  const auto outputs = OutputDTypes(*row, node);
  if (!inputs.ok() || inputs->size() != original.inputs.size() || !outputs.ok()) return nullptr;
  // A node without outputs that must have run is identified by its name alone.
  if (outputs->empty() && options_.preserved.contains(def.name())) return nullptr;
  const bool read = static_cast<size_t>(ports_[static_cast<size_t>(i)]) <= outputs->size();
  return read ? row : nullptr;
}

const OpInfo* Imported::Known(int i, Node& node) {
  ProcessOriginal& original = originals_[static_cast<size_t>(i)];
  const OpInfo* row = Readable(i, node);
  if (row == nullptr) return nullptr;
  bool known = !row->row.stateful;
  // It marks a branch: control edges from it mean that the branch was taken.
  if (node.op == "Identity" && IsSwitch(def_->node(original.inputs[0].node).op())) known = false;
  const auto inputs = InputDTypes(*row, node), outputs = OutputDTypes(*row, node);
  for (const std::vector<DType>* dtypes : {&*inputs, &*outputs}) {
    known = known && std::none_of(dtypes->begin(), dtypes->end(), HoldsObjects);
  }
  if (known) return row;
  if (node.op != "Const") original.movable = node;
  return nullptr;
}

std::vector<TensorSpec> Imported::OutputsOf(int i) const {
  std::vector<TensorSpec> outputs = options_.outputs(def_->node(i).name());
  const size_t read = static_cast<size_t>(ports_[static_cast<size_t>(i)]);
  if (outputs.size() < read) outputs.resize(read);
  return outputs;
}

absl::Status Imported::AddNodes() {
  const int n = def_->node_size();
  std::vector<Node> nodes(static_cast<size_t>(n));
  std::vector<std::vector<DType>> dtypes(nodes.size());
  std::vector<bool> known(nodes.size(), false);
  for (int i = 0; i < n; ++i) {
    const size_t k = static_cast<size_t>(i);
    Node& node = nodes[k];
    const tf::NodeDef& def = def_->node(i);
    if (const OpInfo* row = Known(i, node)) {
      known[k] = true;
      dtypes[k] = *OutputDTypes(*row, node);
    } else {
      const std::vector<TensorSpec> outputs = OutputsOf(i);
      std::vector<Shape> shapes;
      for (const TensorSpec& o : outputs) {
        dtypes[k].push_back(o.dtype);
        shapes.push_back(o.shape);
      }
      node.attrs.clear();
      node.op = kOpaque;
      if (originals_[k].inputs.empty() && outputs.size() == 1 &&
          outputs[0].dtype != DType::kInvalid && !HoldsObjects(outputs[0].dtype)) {
        node.op = "Placeholder";
        node.attrs["dtype"] = outputs[0].dtype;
        node.attrs["shape"] = shapes[0];
      } else {
        node.attrs["Tout"] = dtypes[k];
        node.attrs["shapes"] = std::move(shapes);
      }
    }
    node.name = def.name();
    node.device = def.device();
  }
  for (int i = 0; i < n; ++i) {
    const size_t k = static_cast<size_t>(i);
    ProcessOriginal& original = originals_[k];
    Node& node = nodes[k];
    std::vector<DType> inputs;
    for (const Endpoint& e : original.inputs) {
      if (e.node == kNoNode) continue;
      node.inputs.push_back(e);
      inputs.push_back(dtypes[static_cast<size_t>(e.node)][static_cast<size_t>(e.port)]);
    }
    if (node.op == kOpaque) node.attrs["Tin"] = std::move(inputs);
    node.control_inputs.assign(original.controls.begin(), original.controls.end());
    original.op = node.op;
    original.attrs = node.attrs;
    original.known = known[k];
    TENON_ASSIGN_OR_RETURN(const NodeId id, graph_.AddNode(std::move(node)));
    if (!known[k] || folded_.contains(def_->node(i).name())) {
      graph_.AddTarget(id);
    } else if (options_.fetched.contains(def_->node(i).name())) {
      for (size_t port = 0; port < dtypes[k].size(); ++port) {
        graph_.AddOutput({def_->node(i).name(), {id, static_cast<int>(port)}});
      }
    }
  }
  return graph_.TopologicalOrder().status();
}

absl::Status Imported::AddIdentity(const std::string& name, const std::vector<Endpoint>& sources) {
  std::vector<DType> dtypes;
  for (const Endpoint& e : sources) {
    const Node& source = graph_.node(e.node);
    const OpLookup op = FindOp(source.op);
    if (!op) return Unimplemented("the fetched '", name, "' is lost");
    TENON_ASSIGN_OR_RETURN(const std::vector<DType> all, OutputDTypes(*op.info, source));
    const DType dtype = all[static_cast<size_t>(e.port)];
    if (!IsValid(dtype)) return Unimplemented("the fetched '", name, "' is of no known type");
    dtypes.push_back(dtype);
  }
  Node identity;
  identity.name = name;
  identity.inputs.assign(sources.begin(), sources.end());
  identity.op = sources.size() == 1 ? "Identity" : "IdentityN";
  if (sources.size() == 1) {
    identity.attrs["T"] = dtypes[0];
  } else {
    identity.attrs["T"] = std::move(dtypes);
  }
  return graph_.AddNode(std::move(identity)).status();
}

void Imported::SplitConstants() {
  Rewriter rewriter(graph_);
  for (const NodeId id : graph_.NodeIds()) {
    const Node& n = graph_.node(id);
    const bool is_new = static_cast<size_t>(id) >= originals_.size();
    if (!is_new || n.op != "Const" || !n.control_inputs.empty()) continue;
    const std::vector<Use> uses(rewriter.uses(id).begin(), rewriter.uses(id).end());
    NodeId first = kNoNode;
    for (const Use& use : uses) {
      if (use.is_control()) continue;
      if (first == kNoNode) first = use.reader;
      if (use.reader == first) continue;
      rewriter.SetInput(use.reader, use.slot, {rewriter.AddNode(n), 0});
    }
  }
}

absl::Status Imported::Import() {
  TENON_ASSIGN_OR_RETURN(folded_, FoldVariableShapes(options_, *def_));
  TENON_RETURN_IF_ERROR(ReadInputs());
  ChooseHome();
  return AddNodes();
}

// A fetched tensor is identified by its node's name and its port.
absl::Status Imported::RestoreFetches() {
  OrderedMap<std::string, std::vector<Endpoint>> fetches;
  for (const GraphOutput& output : graph_.outputs()) {
    fetches[output.name].push_back(output.source);
  }
  for (const auto& [name, sources] : fetches) {
    const Node* there = graph_.FindNode(name);
    bool same = there != nullptr;
    for (size_t port = 0; same && port < sources.size(); ++port) {
      same = sources[port] == Endpoint{there->id, static_cast<int>(port)};
    }
    if (same) continue;
    // A rule may have given the name to a node after the tensor.
    if (there != nullptr) Rewriter(graph_).Rename(there->id, graph_.UniqueName(name));
    TENON_RETURN_IF_ERROR(AddIdentity(name, sources));
  }
  for (const std::string& name : options_.preserved) {
    if (by_name_.contains(name) && graph_.FindNode(name) == nullptr) {
      return Unimplemented("the node '", name, "' is lost");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<ProcessGraph>> ProcessGraph::Parse(absl::string_view bytes,
                                                                  ProcessGraphOptions options) {
  auto imported = std::make_unique<Imported>(std::move(options));
  TENON_RETURN_IF_ERROR(imported->Parse(bytes));
  return imported;
}

absl::StatusOr<Node> ParseNodeDef(absl::string_view bytes) {
  google::protobuf::Arena arena;
  auto& def = *google::protobuf::Arena::CreateMessage<tf::NodeDef>(&arena);
  if (!def.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return InvalidArgument("not a NodeDef");
  }
  Node node;
  node.name = def.name();
  node.op = def.op();
  TensorReader tensors;
  TENON_ASSIGN_OR_RETURN(node.attrs, AttrsFromProto(*def.mutable_attr(), tensors, nullptr));
  for (tf::AttrEntry& entry : *def.mutable_attr()) {
    if (entry.key() != kStableInputsAttr) continue;
    TENON_ASSIGN_OR_RETURN(node.attrs[entry.key()],
                           AttrFromProto(*entry.mutable_value(), tensors, nullptr));
  }
  return node;
}

absl::StatusOr<std::vector<ProcessOp>> ParseOpList(absl::string_view bytes) {
  google::protobuf::Arena arena;
  auto& list = *google::protobuf::Arena::CreateMessage<tf::OpList>(&arena);
  if (!list.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return InvalidArgument("not an OpList");
  }
  std::vector<ProcessOp> ops;
  for (const tf::OpDef& op : list.op()) {
    ops.push_back({op.name(), op.input_arg_size(), op.output_arg_size(), op.is_stateful()});
  }
  return ops;
}

absl::StatusOr<TensorSpec> ParseTensorProperties(absl::string_view bytes) {
  google::protobuf::Arena arena;
  auto& properties = *google::protobuf::Arena::CreateMessage<tf::TensorProperties>(&arena);
  if (!properties.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return InvalidArgument("not TensorProperties");
  }
  TensorSpec spec;
  if (const auto dtype = DTypeFromProto(properties.dtype()); dtype.ok()) spec.dtype = *dtype;
  if (const auto shape = ShapeFromProto(properties.shape()); properties.has_shape() && shape.ok()) {
    spec.shape = *shape;
  }
  return spec;
}

}  // namespace tenon
