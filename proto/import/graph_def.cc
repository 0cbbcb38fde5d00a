// Loads GraphDefs: placeholders are the inputs, and tensors that no node reads are the outputs.
#include <google/protobuf/arena.h>

#include <algorithm>
#include <utility>

#include "absl/strings/strip.h"
#include "env/containers.h"
#include "env/status.h"
#include "ops/op.h"
#include "proto/import/load.h"
#include "proto/messages/attr_proto.h"
#include "proto/messages/tenon_graph.pb.h"

namespace tenon {
namespace {

bool Contains(const std::vector<std::string>& names, const std::string& name) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& n) { return absl::StripSuffix(n, ":0") == name; });
}

std::string NodeOf(const std::string& input) { return input.substr(0, input.find(':')); }

// The dtypes of a node's outputs; one of dtype kInvalid if the op is not known.
std::vector<DType> DTypesOf(tf::NodeDef& def, TensorReader& tensors) {
  const std::vector<DType> unknown = {DType::kInvalid};
  const OpLookup op = FindOp(def.op());
  if (!op) return unknown;
  Node node;
  node.op = def.op();
  absl::StatusOr<AttrMap> attrs = AttrsFromProto(*def.mutable_attr(), tensors, nullptr);
  if (!attrs.ok()) return unknown;  // import reports the error
  node.attrs = *std::move(attrs);
  if (!CompleteAttrs(*op.info, node).ok()) return unknown;
  return OutputDTypes(*op.info, node).value_or(unknown);
}

// Whether a default chooses between training and inference, as Keras's learning phase does. It
// stays constant unless the caller asks for it (LoadOptions::more_feeds): only if one branch is
// gone before rewriting, the ops of the other are fused with their neighbors.
bool IsModeSwitch(const Tensor& value) {
  return value.dtype() == DType::kBool && value.shape().rank() == 0;
}

// The nodes that callers feed: placeholders first, then those with a constant default.
absl::StatusOr<std::vector<tf::NodeDef*>> Placeholders(Importer& importer) {
  std::vector<tf::NodeDef*> nodes;
  for (tf::NodeDef* def : importer.top().nodes) {
    if (IsPlaceholder(*def)) nodes.push_back(def);
  }
  for (tf::NodeDef* def : importer.top().nodes) {
    if (def->op() != "PlaceholderWithDefault") continue;
    TENON_ASSIGN_OR_RETURN(const Tensor value, importer.DefaultOf(def->name()));
    if (value.valid() && !IsModeSwitch(value)) nodes.push_back(def);
  }
  return nodes;
}

// An Identity of a Switch marks a branch (a pivot).
bool IsPivot(const Importer& importer, const tf::NodeDef& def) {
  if (def.op() != "Identity" || def.input_size() == 0) return false;
  auto it = importer.top().by_name.find(NodeOf(def.input(0)));
  if (it == importer.top().by_name.end()) return false;
  const std::string& op = importer.top().nodes[static_cast<size_t>(it->second)]->op();
  return op == "Switch" || op == "_SwitchN";
}

// Whether each node runs in a loop's frame, which nobody can fetch from: behind an Enter, and not
// yet behind its Exit.
std::vector<bool> InFrames(const Importer& importer) {
  constexpr int kMostFrames = 64;
  const std::vector<tf::NodeDef*>& nodes = importer.top().nodes;
  std::vector<std::vector<size_t>> readers(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const std::string& input : nodes[i]->input()) {
      const auto it =
          importer.top().by_name.find(NodeOf(std::string(absl::StripPrefix(input, "^"))));
      if (it != importer.top().by_name.end()) {
        readers[static_cast<size_t>(it->second)].push_back(i);
      }
    }
  }
  std::vector<int> frames(nodes.size(), 0);
  std::vector<size_t> changed;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i]->op() != "Enter" && nodes[i]->op() != "RefEnter") continue;
    frames[i] = 1;
    changed.push_back(i);
  }
  while (!changed.empty()) {
    const size_t from = changed.back();
    changed.pop_back();
    for (const size_t i : readers[from]) {
      const std::string& op = nodes[i]->op();
      // op names: of the dataflow.
      const int change = op == "Enter" || op == "RefEnter" ? 1 : op == "Exit" ? -1 : 0;
      const int now = std::min(frames[from] + change, kMostFrames);
      if (now <= frames[i]) continue;
      frames[i] = now;
      changed.push_back(i);
    }
  }
  std::vector<bool> in;
  for (const int count : frames) in.push_back(count > 0);
  return in;
}

// Outputs of nodes that no node reads, except nodes that only hold a value. Unread loop variables
// (Exit) count only with `exits`: those of an inner loop cannot be fetched.
std::vector<std::pair<tf::NodeDef*, int>> Sinks(const Importer& importer, bool exits,
                                                TensorReader& tensors) {
  HashSet<std::string> read;
  for (const tf::NodeDef* def : importer.top().nodes) {
    for (const std::string& input : def->input()) {
      if (input.empty() || input[0] != '^') read.insert(NodeOf(input));
    }
  }
  const std::vector<bool> in_frames = InFrames(importer);
  std::vector<std::pair<tf::NodeDef*, int>> sinks;
  for (size_t i = 0; i < in_frames.size(); ++i) {
    tf::NodeDef* const def = importer.top().nodes[i];
    if (in_frames[i] || read.contains(def->name())) continue;
    const std::string& op = def->op();
    // op names: these compute nothing, and the next are parts of control flow.
    if (op == "Const" || op == "NoOp" || op == "VarHandleOp" || IsPlaceholder(*def)) continue;
    // op names: as above.
    if (op == "Switch" || op == "_SwitchN" || op == "Merge" || op == "NextIteration" ||
        op == "TensorArrayCloseV3" || (op == "Exit" && !exits) || IsPivot(importer, *def)) {
      continue;
    }
    const size_t outputs = DTypesOf(*def, tensors).size();
    for (size_t port = 0; port < outputs; ++port) {
      sinks.emplace_back(def, static_cast<int>(port));
    }
  }
  return sinks;
}

std::vector<std::pair<tf::NodeDef*, int>> Outputs(const Importer& importer, TensorReader& tensors) {
  auto sinks = Sinks(importer, /*exits=*/false, tensors);
  return sinks.empty() ? Sinks(importer, /*exits=*/true, tensors) : sinks;
}

std::string PortName(const tf::NodeDef& def, int port) {
  return absl::StrCat(def.name(), ":", port);
}

absl::Status Load(tf::GraphDef& graph, const LoadOptions& options, Model& model) {
  if (graph.node_size() == 0) return InvalidArgument("not a GraphDef: it has no nodes");
  TENON_ASSIGN_OR_RETURN(const std::unique_ptr<Importer> importer, Importer::Create(graph));
  std::vector<Feed> feeds;
  for (const std::string& tensor : options.feeds) feeds.push_back({tensor, tensor});
  const size_t given = feeds.size();
  if (given == 0) {
    TENON_ASSIGN_OR_RETURN(const std::vector<tf::NodeDef*> nodes, Placeholders(*importer));
    for (const tf::NodeDef* def : nodes) {
      feeds.push_back({def->name(), def->name()});
    }
  }
  const size_t placeholders = given == 0 ? feeds.size() : 0;
  AddMoreFeeds(options, feeds);
  std::vector<Fetch> fetches;
  for (const std::string& tensor : options.fetches) fetches.push_back({tensor, tensor});
  if (fetches.empty()) {
    for (const auto& [def, port] : Outputs(*importer, importer->tensors())) {
      fetches.push_back({PortName(*def, port), PortName(*def, port)});
    }
  }
  if (fetches.empty()) return InvalidArgument("the graph has no output");
  TENON_ASSIGN_OR_RETURN(Draft draft, importer->ImportGraph(feeds, fetches, {}));
  // Only the placeholders that the outputs need are inputs.
  std::vector<GraphInput> inputs = std::move(draft.inputs);
  draft.inputs.clear();
  const std::vector<bool> live = draft.Live();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool asked = i >= placeholders || Contains(options.more_feeds, inputs[i].name);
    if (asked || live[static_cast<size_t>(inputs[i].node)]) {
      draft.inputs.push_back(std::move(inputs[i]));
    } else {
      model.interface.unneeded.push_back(std::move(inputs[i].name));
    }
  }
  TENON_RETURN_IF_ERROR(AddDefaults(*importer, feeds, model));
  TableStore tables(*importer, {}, {}, nullptr);
  return FinishModel(std::move(draft), *importer, nullptr, tables, options, model);
}

absl::Status Describe(tf::GraphDef& graph, SignatureInfo& signature) {
  if (graph.node_size() == 0) return InvalidArgument("not a GraphDef: it has no nodes");
  TENON_ASSIGN_OR_RETURN(const std::unique_ptr<Importer> importer, Importer::Create(graph));
  TENON_ASSIGN_OR_RETURN(const std::vector<tf::NodeDef*> nodes, Placeholders(*importer));
  for (tf::NodeDef* def : nodes) {
    SignatureTensor input{def->name(), PortName(*def, 0)};
    TENON_ASSIGN_OR_RETURN(const AttrMap attrs,
                           AttrsFromProto(*def->mutable_attr(), importer->tensors(), nullptr));
    if (auto dtype = attrs.find("dtype"); dtype != attrs.end()) {
      if (const DType* stated = dtype->second.get_if<DType>()) input.dtype = *stated;
    }
    input.shape = FedShape(graph, *def, attrs, Shape::Unknown());
    input.optional = def->op() == "PlaceholderWithDefault";
    signature.inputs.push_back(std::move(input));
  }
  for (const auto& [def, port] : Outputs(*importer, importer->tensors())) {
    SignatureTensor output{PortName(*def, port), PortName(*def, port)};
    output.dtype = DTypesOf(*def, importer->tensors())[static_cast<size_t>(port)];
    signature.outputs.push_back(std::move(output));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Model> LoadGraphDef(const ModelSource& source, const LoadOptions& options) {
  Model model;
  model.source = source.path;
  google::protobuf::Arena arena;
  auto& graph = *google::protobuf::Arena::CreateMessage<tf::GraphDef>(&arena);
  bool text = false;
  TENON_RETURN_IF_ERROR(source.Read(graph, &text));
  model.format = text ? "GraphDef text" : "GraphDef";
  if (absl::Status s = Load(graph, options, model); !s.ok()) return source.Annotated(s);
  return model;
}

absl::StatusOr<ModelInfo> InspectGraphDef(const ModelSource& source) {
  google::protobuf::Arena arena;
  auto& graph = *google::protobuf::Arena::CreateMessage<tf::GraphDef>(&arena);
  bool text = false;
  TENON_RETURN_IF_ERROR(source.Read(graph, &text));
  ModelInfo info;
  info.format = text ? "GraphDef text" : "GraphDef";
  info.default_signature = 0;
  if (absl::Status s = Describe(graph, info.signatures.emplace_back()); !s.ok()) {
    return source.Annotated(s);
  }
  return info;
}

}  // namespace tenon
