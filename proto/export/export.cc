#include "proto/export/export.h"

#include <google/protobuf/arena.h>
#include <google/protobuf/text_format.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "env/containers.h"
#include "env/status.h"
#include "kernels/state/mutable_table.h"
#include "kernels/state/variable.h"
#include "ops/op.h"
#include "proto/messages/attr_proto.h"
#include "proto/messages/message_file.h"
#include "proto/messages/tenon_graph.pb.h"
#include "proto/messages/tenon_saved_model.pb.h"
#include "proto/messages/tensor_proto.h"

namespace tenon {
namespace {

// Whether import made the attribute, which TensorFlow does not know.
bool IsNote(absl::string_view key) {
  return key == kInitialValueAttr || key == kVariableShapeAttr || key == kInitialKeysAttr ||
         key == kInitialValuesAttr || key == kValueShapeAttr;
}

constexpr char kInitSignature[] = "__saved_model_init_op";  // what TensorFlow runs after loading
constexpr int kProducer = 1087;  // a version of the GraphDef format that every reader accepts

bool IsPrivate(const std::string& op) {
  const OpLookup known = FindOp(op);
  return op[0] == '_' || (known && (known.native || known.info->row.internal));
}

void CollectPrivate(const Graph& graph, OrderedSet<std::string>& ops) {
  for (NodeId id : graph.NodeIds()) {
    if (IsPrivate(graph.node(id).op)) ops.insert(graph.node(id).op);
  }
  for (const auto& [name, body] : graph.functions()) CollectPrivate(*body, ops);
}

// How inputs are written: as "x:1" in a graph; in a function, as "x:out:0" or the argument's name.
class NodeWriter {
 public:
  NodeWriter(const Graph& graph, bool function) : graph_(graph), function_(function) {}

  // Uses of this node's output are written as the argument's name.
  void AddArgument(NodeId id, std::string name) { arguments_[id] = std::move(name); }
  bool IsArgument(NodeId id) const { return arguments_.contains(id); }

  absl::StatusOr<std::string> InputText(Endpoint e) const {
    if (auto it = arguments_.find(e.node); it != arguments_.end()) return it->second;
    const Node& n = graph_.node(e.node);
    if (!function_) return e.port == 0 ? n.name : absl::StrCat(n.name, ":", e.port);
    int port = e.port;
    if (const OpLookup op = FindOp(n.op)) {
      TENON_ASSIGN_OR_RETURN(const auto args, OutputArgs(*op.info, n));
      for (const auto& [name, count] : args) {
        if (port < count) return absl::StrCat(n.name, ":", name, ":", port);
        port -= count;
      }
    }
    return Unimplemented("output ", e.port, " of ", NodeLabel(n), " has no name");
  }

  absl::Status Write(const Node& n, tf::NodeDef& def) const {
    def.set_name(n.name);
    def.set_op(n.op);
    if (!n.device.empty()) def.set_device(n.device);
    for (const Endpoint& e : n.inputs) {
      TENON_ASSIGN_OR_RETURN(std::string text, InputText(e));
      def.add_input(std::move(text));
    }
    for (NodeId c : n.control_inputs) {
      if (!IsArgument(c)) def.add_input(absl::StrCat("^", graph_.node(c).name));
    }
    for (const auto& [key, value] : n.attrs) {
      if (value.empty() || IsNote(key)) continue;
      tf::AttrEntry& entry = *def.add_attr();
      entry.set_key(key);
      if (absl::Status s = AttrToProto(value, *entry.mutable_value()); !s.ok()) {
        return Annotate(s, absl::StrCat(NodeLabel(n), ": attribute '", key, "'"));
      }
    }
    return absl::OkStatus();
  }

 private:
  const Graph& graph_;
  const bool function_;
  HashMap<NodeId, std::string> arguments_;
};

// A unique argument name of the form [a-z][a-z0-9_]*.
std::string ArgumentName(absl::string_view name, HashSet<std::string>& taken) {
  std::string base = "a";
  if (!name.empty() && absl::ascii_isalpha(static_cast<unsigned char>(name[0]))) base.clear();
  for (char c : name) {
    const auto u = static_cast<unsigned char>(c);
    base += absl::ascii_isalnum(u) ? absl::ascii_tolower(u) : '_';
  }
  std::string unique = base;
  for (int i = 1; !taken.insert(unique).second; ++i) unique = absl::StrCat(base, "_", i);
  return unique;
}

// The dtype of an endpoint; invalid if its op is not known.
DType DTypeOf(const Graph& graph, Endpoint e) {
  const OpLookup op = FindOp(graph.node(e.node).op);
  if (!op) return DType::kInvalid;
  const absl::StatusOr<std::vector<DType>> dtypes = OutputDTypes(*op.info, graph.node(e.node));
  if (!dtypes.ok() || static_cast<size_t>(e.port) >= dtypes->size()) return DType::kInvalid;
  return (*dtypes)[static_cast<size_t>(e.port)];
}

absl::Status WriteFunction(const std::string& name, const Graph& body, tf::FunctionDef& def) {
  NodeWriter writer(body, /*function=*/true);
  HashSet<std::string> taken;
  for (NodeId id : body.NodeIds()) taken.insert(body.node(id).name);
  tf::OpDef& signature = *def.mutable_signature();
  signature.set_name(name);
  for (const GraphInput& input : body.inputs()) {
    tf::OpDef::ArgDef& arg = *signature.add_input_arg();
    arg.set_name(ArgumentName(input.name, taken));
    arg.set_type(static_cast<tf::DataType>(DTypeOf(body, {input.node, 0})));
    writer.AddArgument(input.node, arg.name());
  }
  for (NodeId id : body.NodeIds()) {
    if (writer.IsArgument(id)) continue;
    TENON_RETURN_IF_ERROR(writer.Write(body.node(id), *def.add_node_def()));
  }
  taken.clear();
  for (const GraphOutput& output : body.outputs()) {
    tf::OpDef::ArgDef& arg = *signature.add_output_arg();
    arg.set_name(ArgumentName(output.name, taken));
    arg.set_type(static_cast<tf::DataType>(DTypeOf(body, output.source)));
    tf::FunctionDef::NameEntry& entry = *def.add_ret();
    entry.set_key(arg.name());
    TENON_ASSIGN_OR_RETURN(*entry.mutable_value(), writer.InputText(output.source));
  }
  for (NodeId target : body.targets()) {
    tf::FunctionDef::NameEntry& entry = *def.add_control_ret();
    entry.set_key(body.node(target).name);
    entry.set_value(body.node(target).name);
    signature.add_control_output(body.node(target).name);
  }
  signature.set_is_stateful(!body.targets().empty());
  return absl::OkStatus();
}

absl::Status WriteGraph(const Graph& graph, const ExportOptions& options, tf::GraphDef& def) {
  if (!options.allow_private) {
    OrderedSet<std::string> ops;
    CollectPrivate(graph, ops);
    if (!ops.empty()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "the graph has private ops, which other programs do not know: ", absl::StrJoin(ops, ", "),
          "; export the graph as it was before rewriting"));
    }
  }
  const NodeWriter writer(graph, /*function=*/false);
  for (NodeId id : graph.NodeIds()) {
    TENON_RETURN_IF_ERROR(writer.Write(graph.node(id), *def.add_node()));
  }
  for (const auto& [name, body] : graph.functions()) {
    absl::Status status = WriteFunction(name, *body, *def.mutable_library()->add_function());
    if (!status.ok()) return Annotate(status, absl::StrCat("function '", name, "'"));
  }
  def.mutable_versions()->set_producer(kProducer);
  return absl::OkStatus();
}

std::string TensorText(const Graph& graph, Endpoint e) {
  return absl::StrCat(graph.node(e.node).name, ":", e.port);
}

// Names for nodes that are added to a GraphDef.
class FreeNames {
 public:
  explicit FreeNames(const tf::GraphDef& def) {
    for (const tf::NodeDef& node : def.node()) taken_.insert(node.name());
  }
  std::string Next(std::string name) {
    while (!taken_.insert(name).second) name += "_";
    return name;
  }

 private:
  HashSet<std::string> taken_;
};

// Adds a node that gives the output once the graph's targets have run: whoever fetches an output
// runs only what it depends on. The tensor's name.
absl::StatusOr<std::string> AddAfterTargets(const Graph& graph, const GraphOutput& output,
                                            tf::GraphDef& def) {
  tf::NodeDef& node = *def.add_node();
  node.set_name(FreeNames(def).Next(absl::StrCat(output.name, "/after_changes")));
  node.set_op("Identity");
  node.add_input(TensorText(graph, output.source));
  for (const NodeId target : graph.targets()) {
    node.add_input(absl::StrCat("^", graph.node(target).name));
  }
  tf::AttrEntry& entry = *node.add_attr();
  entry.set_key("T");
  TENON_RETURN_IF_ERROR(AttrToProto(DTypeOf(graph, output.source), *entry.mutable_value()));
  return absl::StrCat(node.name(), ":0");
}

// The variable or table of each node that holds values, by name.
void CollectState(const Graph& graph, OrderedMap<std::string, const Node*>& state) {
  for (NodeId id : graph.NodeIds()) {
    const Node& n = graph.node(id);
    if (!n.attrs.contains(kInitialValueAttr) && !n.attrs.contains(kInitialKeysAttr)) continue;
    const std::string* const shared = n.attr<std::string>("shared_name");
    state.emplace(shared == nullptr || shared->empty() ? n.name : *shared, &n);
  }
  for (const auto& [name, body] : graph.functions()) CollectState(*body, state);
}

// Adds a node that gives the variables and tables their values, as TensorFlow runs it after
// loading. Its name; empty if the graph has none.
absl::StatusOr<std::string> AddInitializer(const Graph& graph, tf::GraphDef& def) {
  OrderedMap<std::string, const Node*> state;
  CollectState(graph, state);
  if (state.empty()) return "";
  FreeNames names(def);
  const auto add =
      [&](const std::string& name, const char* op, std::vector<std::string> inputs,
          std::vector<std::pair<const char*, AttrValue>> attrs) -> absl::StatusOr<std::string> {
    tf::NodeDef& node = *def.add_node();
    node.set_name(names.Next(name));
    node.set_op(op);
    for (std::string& input : inputs) node.add_input(std::move(input));
    for (const auto& [key, value] : attrs) {
      tf::AttrEntry& entry = *node.add_attr();
      entry.set_key(key);
      TENON_RETURN_IF_ERROR(AttrToProto(value, *entry.mutable_value()));
    }
    return node.name();
  };
  std::vector<std::string> assigned;
  for (const auto& [name, node] : state) {
    std::vector<std::pair<const char*, AttrValue>> handle_attrs;
    for (const auto& [key, value] : node->attrs) {
      if (!IsNote(key) && !value.empty()) handle_attrs.emplace_back(key.c_str(), value);
    }
    TENON_ASSIGN_OR_RETURN(
        const std::string handle,
        add(absl::StrCat(name, "/handle"), node->op.c_str(), {}, std::move(handle_attrs)));
    const auto constant = [&](const char* attr) {
      const Tensor& value = *node->attr<Tensor>(attr);
      return add(absl::StrCat(name, "/initial"), "Const", {},
                 {{"dtype", value.dtype()}, {"value", value}});
    };
    std::string assign;
    if (const Tensor* const value = node->attr<Tensor>(kInitialValueAttr)) {
      TENON_ASSIGN_OR_RETURN(const std::string initial, constant(kInitialValueAttr));
      TENON_ASSIGN_OR_RETURN(assign, add(absl::StrCat(name, "/assign"), "AssignVariableOp",
                                         {handle, initial}, {{"dtype", value->dtype()}}));
    } else {
      TENON_ASSIGN_OR_RETURN(const std::string keys, constant(kInitialKeysAttr));
      TENON_ASSIGN_OR_RETURN(const std::string values, constant(kInitialValuesAttr));
      TENON_ASSIGN_OR_RETURN(
          assign, add(absl::StrCat(name, "/fill"), "LookupTableImportV2", {handle, keys, values},
                      {{"Tin", node->attr<Tensor>(kInitialKeysAttr)->dtype()},
                       {"Tout", node->attr<Tensor>(kInitialValuesAttr)->dtype()}}));
    }
    assigned.push_back("^" + assign);
  }
  return add("initializer", "NoOp", std::move(assigned), {});
}

}  // namespace

absl::Status ExportGraph(const Graph& graph, const std::string& path,
                         const ExportOptions& options) {
  google::protobuf::Arena arena;
  auto& def = *google::protobuf::Arena::CreateMessage<tf::GraphDef>(&arena);
  TENON_RETURN_IF_ERROR(WriteGraph(graph, options, def));
  const bool text = options.format == GraphFormat::kText;
  return WriteMessageFile(path, def, text ? MessageFormat::kText : MessageFormat::kBinary);
}

absl::Status ExportSavedModel(const Graph& graph, const std::string& folder) {
  google::protobuf::Arena arena;
  auto& saved = *google::protobuf::Arena::CreateMessage<tf::SavedModel>(&arena);
  saved.set_saved_model_schema_version(1);
  tf::MetaGraphDef& meta = *saved.add_meta_graphs();
  meta.mutable_meta_info_def()->add_tags("serve");
  TENON_RETURN_IF_ERROR(WriteGraph(graph, {}, *meta.mutable_graph_def()));
  TENON_ASSIGN_OR_RETURN(const std::string initializer,
                         AddInitializer(graph, *meta.mutable_graph_def()));
  if (!initializer.empty()) {
    tf::MetaGraphDef::SignatureEntry& entry = *meta.add_signature_def();
    entry.set_key(kInitSignature);
    tf::SignatureDef::TensorEntry& output = *entry.mutable_value()->add_outputs();
    output.set_key(kInitSignature);
    output.mutable_value()->set_name(initializer);
  }
  tf::MetaGraphDef::SignatureEntry& entry = *meta.add_signature_def();
  entry.set_key("serving_default");
  tf::SignatureDef& signature = *entry.mutable_value();
  signature.set_method_name("tensorflow/serving/predict");
  const auto describe = [&](const std::string& key, Endpoint e, const Shape& shape,
                            tf::SignatureDef::TensorEntry& to) {
    to.set_key(key);
    to.mutable_value()->set_name(TensorText(graph, e));
    to.mutable_value()->set_dtype(static_cast<tf::DataType>(DTypeOf(graph, e)));
    ShapeToProto(shape, *to.mutable_value()->mutable_tensor_shape());
  };
  for (const GraphInput& input : graph.inputs()) {
    const Shape* shape = graph.node(input.node).attr<Shape>("shape");
    describe(input.name, {input.node, 0}, shape == nullptr ? Shape::Unknown() : *shape,
             *signature.add_inputs());
  }
  for (const GraphOutput& output : graph.outputs()) {
    tf::SignatureDef::TensorEntry& entry = *signature.add_outputs();
    describe(output.name, output.source, Shape::Unknown(), entry);
    if (graph.targets().empty()) continue;
    TENON_ASSIGN_OR_RETURN(*entry.mutable_value()->mutable_name(),
                           AddAfterTargets(graph, output, *meta.mutable_graph_def()));
  }

  const std::filesystem::path place = std::filesystem::path(folder) / "";
  const std::string whole = place.parent_path().string(), partial = absl::StrCat(whole, ".partial");
  std::error_code error;
  std::filesystem::create_directories(partial, error);
  if (error) return absl::ErrnoToStatus(error.value(), absl::StrCat("cannot make ", partial));
  absl::Status status =
      WriteMessageFile(absl::StrCat(partial, "/saved_model.pb"), saved, MessageFormat::kBinary);
  if (status.ok()) {
    std::filesystem::rename(partial, whole, error);  // replaces only an empty folder
    if (error) {
      status = absl::FailedPreconditionError(
          absl::StrCat("cannot write ", whole, ": ", error.message()));
    }
  }
  if (!status.ok()) std::filesystem::remove_all(partial, error);
  return status;
}

absl::Status CheckExportPath(const std::string& path) {
  std::error_code error;
  if (absl::EndsWith(path, ".pb") || absl::EndsWith(path, ".pbtxt")) return absl::OkStatus();
  if (!std::filesystem::exists(path, error) || std::filesystem::is_empty(path, error)) {
    return absl::OkStatus();
  }
  return InvalidArgument(path, ": exists already; name a new folder, or a .pb or .pbtxt file");
}

absl::Status ExportModel(const Graph& graph, const std::string& path) {
  ExportOptions options;
  options.format = absl::EndsWith(path, ".pbtxt") ? GraphFormat::kText : GraphFormat::kBinary;
  if (absl::EndsWith(path, ".pb") || absl::EndsWith(path, ".pbtxt")) {
    OrderedMap<std::string, const Node*> state;
    CollectState(graph, state);
    if (!state.empty()) {
      return absl::FailedPreconditionError(
          absl::StrCat("the model changes '", state.begin()->first,
                       "', whose value a GraphDef cannot hold; write a SavedModel (a folder)"));
    }
    return ExportGraph(graph, path, options);
  }
  return ExportSavedModel(graph, path);
}

absl::StatusOr<std::string> GraphDefBytes(const Graph& graph) {
  google::protobuf::Arena arena;
  auto& def = *google::protobuf::Arena::CreateMessage<tf::GraphDef>(&arena);
  TENON_RETURN_IF_ERROR(WriteGraph(graph, {}, def));
  std::string bytes;
  if (!def.SerializeToString(&bytes)) return Internal("cannot write the graph");
  return bytes;
}

absl::StatusOr<std::string> GraphDefText(const Graph& graph, const ExportOptions& options) {
  google::protobuf::Arena arena;
  auto& def = *google::protobuf::Arena::CreateMessage<tf::GraphDef>(&arena);
  TENON_RETURN_IF_ERROR(WriteGraph(graph, options, def));
  std::string text;
  if (!google::protobuf::TextFormat::PrintToString(def, &text)) {
    return Internal("cannot print the graph");
  }
  return text;
}

}  // namespace tenon
