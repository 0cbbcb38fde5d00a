// Loads GraphDef files: placeholders are the inputs, and tensors that no node reads are the
// outputs.
#include <google/protobuf/arena.h>

#include <utility>

#include "env/status.h"
#include "ops/op.h"
#include "proto/import/load.h"
#include "proto/messages/attr_proto.h"
#include "proto/messages/message_file.h"
#include "proto/messages/tenon_graph.pb.h"

namespace tenon {
namespace {

std::string NodeOf(const std::string& input) { return input.substr(0, input.find(':')); }

// The number of outputs of a node; 1 if the op is not known.
int NumOutputs(tf::NodeDef& def, TensorReader& tensors) {
  const OpLookup op = FindOp(def.op());
  if (!op) return 1;
  Node node;
  node.op = def.op();
  absl::StatusOr<AttrMap> attrs = AttrsFromProto(*def.mutable_attr(), tensors, nullptr);
  if (!attrs.ok()) return 1;  // import reports the error
  node.attrs = *std::move(attrs);
  if (!CompleteAttrs(*op.info, node).ok()) return 1;
  const absl::StatusOr<std::vector<DType>> dtypes = OutputDTypes(*op.info, node);
  return dtypes.ok() ? static_cast<int>(dtypes->size()) : 1;
}

// An Identity of a Switch marks a branch (a pivot).
bool IsPivot(const Importer& importer, const tf::NodeDef& def) {
  if (def.op() != "Identity" || def.input_size() == 0) return false;
  auto it = importer.top().by_name.find(NodeOf(def.input(0)));
  return it != importer.top().by_name.end() &&
         importer.top().nodes[static_cast<size_t>(it->second)]->op() == "Switch";
}

// Outputs of nodes that no node reads, except nodes that only hold a value. Unread loop variables
// (Exit) count only with `exits`: those of an inner loop cannot be fetched.
std::vector<Fetch> Sinks(Importer& importer, bool exits) {
  absl::flat_hash_set<std::string> read;
  for (const tf::NodeDef* def : importer.top().nodes) {
    for (const std::string& input : def->input()) {
      if (input.empty() || input[0] != '^') read.insert(NodeOf(input));
    }
  }
  std::vector<Fetch> fetches;
  for (tf::NodeDef* def : importer.top().nodes) {
    if (read.contains(def->name())) continue;
    const std::string& op = def->op();
    // op names: these compute nothing, and the next are parts of control flow.
    if (op == "Const" || op == "Placeholder" || op == "NoOp" || op == "VarHandleOp") continue;
    // op names: as above.
    if (op == "Switch" || op == "Merge" || op == "NextIteration" || op == "TensorArrayCloseV3" ||
        (op == "Exit" && !exits) || IsPivot(importer, *def)) {
      continue;
    }
    const int outputs = NumOutputs(*def, importer.tensors());
    for (int port = 0; port < outputs; ++port) {
      const std::string name = absl::StrCat(def->name(), ":", port);
      fetches.push_back({name, name});
    }
  }
  return fetches;
}

absl::Status Load(tf::GraphDef& graph, const LoadOptions& options, Model& model) {
  if (graph.node_size() == 0) return InvalidArgument("not a GraphDef: it has no nodes");
  TENON_ASSIGN_OR_RETURN(const std::unique_ptr<Importer> importer, Importer::Create(graph));
  std::vector<Feed> feeds;
  for (const std::string& tensor : options.feeds) feeds.push_back({tensor, tensor});
  const size_t given = feeds.size();
  if (given == 0) {
    for (const tf::NodeDef* def : importer->top().nodes) {
      if (def->op() == "Placeholder") feeds.push_back({def->name(), def->name()});
    }
  }
  std::vector<Fetch> fetches;
  for (const std::string& tensor : options.fetches) fetches.push_back({tensor, tensor});
  if (fetches.empty()) fetches = Sinks(*importer, /*exits=*/false);
  if (fetches.empty()) fetches = Sinks(*importer, /*exits=*/true);
  if (fetches.empty()) return InvalidArgument("the graph has no output");
  TENON_ASSIGN_OR_RETURN(Draft draft, importer->ImportGraph(feeds, fetches, {}));
  if (given == 0) {  // only the placeholders that the outputs need
    std::vector<GraphInput> inputs = std::move(draft.inputs);
    draft.inputs.clear();
    const std::vector<bool> live = draft.Live();
    for (GraphInput& input : inputs) {
      if (live[static_cast<size_t>(input.node)]) draft.inputs.push_back(std::move(input));
    }
  }
  TableStore tables(*importer, {}, {}, nullptr);
  return FinishModel(std::move(draft), *importer, nullptr, tables, options, model);
}

}  // namespace

absl::StatusOr<Model> LoadGraphDef(const std::string& path, const LoadOptions& options) {
  Model model;
  model.source = path;
  google::protobuf::Arena arena;
  auto& graph = *google::protobuf::Arena::CreateMessage<tf::GraphDef>(&arena);
  bool text = false;
  TENON_RETURN_IF_ERROR(ReadMessageFile(path, graph, &text));
  model.format = text ? "GraphDef text" : "GraphDef";
  if (absl::Status s = Load(graph, options, model); !s.ok()) return Annotate(s, path);
  return model;
}

}  // namespace tenon
