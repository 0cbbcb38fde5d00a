#include "tf_plugin/graph_pass.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "env/containers.h"
#include "env/flags.h"
#include "env/status.h"
#include "graph_rewrite/pipeline.h"
#include "proto/process/process_graph.h"
#include "tf_plugin/c_api.h"
#include "tf_plugin/dump.h"
#include "tf_plugin/names.h"
#include "tf_plugin/process.h"
#include "tf_plugin/subgraphs.h"

namespace tenon::plugin {
namespace {

using Names = HashSet<std::string>;
using SizeFn = void (*)(const TF_GrapplerItem*, int*, size_t*, TF_Status*);
using ListFn = void (*)(const TF_GrapplerItem*, char**, size_t*, int, void*, size_t, TF_Status*);

absl::StatusOr<Names> ReadNames(const TF_GrapplerItem* item, SizeFn size, ListFn list) {
  const StatusPtr status(TF_NewStatus());
  int count = 0;
  size_t bytes = 0;
  size(item, &count, &bytes, status.get());
  TENON_RETURN_IF_ERROR(FromTf(status.get()));
  std::vector<char*> values(static_cast<size_t>(count));
  std::vector<size_t> lengths(values.size());
  std::vector<char> storage(bytes);
  list(item, values.data(), lengths.data(), count, storage.data(), bytes, status.get());
  TENON_RETURN_IF_ERROR(FromTf(status.get()));
  Names names;
  for (size_t i = 0; i < values.size(); ++i) {
    // Fetches may be tensors, but the list has nodes.
    const std::string name(values[i], lengths[i]);
    names.insert(name.substr(0, name.find(':')));
  }
  return names;
}

// The dtypes and shapes that TensorFlow inferred.
class Properties {
 public:
  explicit Properties(const TF_GrapplerItem* item)
      : properties_(TF_NewGraphProperties(item)), status_(TF_NewStatus()) {
    TF_InferStatically(properties_, /*assume_valid_feeds=*/0, /*aggressive_shape_inference=*/0,
                       /*include_input_tensor_values=*/0, /*include_output_tensor_values=*/0,
                       status_.get());
    inferred_ = TF_GetCode(status_.get()) == TF_OK;
  }
  ~Properties() { TF_DeleteGraphProperties(properties_); }
  Properties(const Properties&) = delete;
  Properties& operator=(const Properties&) = delete;

  std::vector<TensorSpec> OutputsOf(const std::string& node) const {
    std::vector<TensorSpec> outputs;
    int count = 0;
    if (!inferred_) return outputs;
    TF_GetOutputPropertiesListSize(properties_, node.c_str(), &count, status_.get());
    if (TF_GetCode(status_.get()) != TF_OK || count <= 0) return outputs;
    std::vector<BufferPtr> owners;
    std::vector<TF_Buffer*> buffers;
    for (int i = 0; i < count; ++i) {
      owners.emplace_back(TF_NewBuffer());
      buffers.push_back(owners.back().get());
    }
    TF_GetOutputPropertiesList(properties_, node.c_str(), buffers.data(), count, status_.get());
    if (TF_GetCode(status_.get()) != TF_OK) return outputs;
    for (const TF_Buffer* b : buffers) {
      outputs.push_back(ParseTensorProperties(Bytes(*b)).value_or(TensorSpec()));
    }
    return outputs;
  }

 private:
  TF_GraphProperties* const properties_;
  const StatusPtr status_;
  bool inferred_ = false;
};

bool IsOurs(const ProcessNames& names, const std::string& op) {
  const OpInfo* row = names.row(op);
  return row != nullptr && InGraphs(*row);
}

// A part of a graph that runs as one node has at least so many kernels, of which so many are
// accelerated: fewer gain little.
constexpr int kLeastKernels = 3, kLeastAccelerated = 2;

// Whether TensorFlow passes a graph that was rewritten before.
bool HasPrivateOps(const std::vector<std::string>& ops) {
  return std::any_of(ops.begin(), ops.end(),
                     [](const std::string& op) { return absl::StartsWith(op, kPrivatePrefix); });
}

int CountKernels(const Graph& graph) {
  const std::vector<NodeId> ids = graph.NodeIds();
  return static_cast<int>(std::count_if(ids.begin(), ids.end(), [&](NodeId id) {
    const Node& n = graph.node(id);
    const OpLookup op = FindOp(n.op);
    return op && !op.info->row.alias && n.op != "Const" && n.op != "Placeholder";
  }));
}

// The usual phases, with dumps if the user wants them.
absl::Status RunPhases(Process& process, Graph& graph, bool dumps) {
  RewriteOptions rewrite;
  rewrite.services = &process.services();
  rewrite.last = Phase::kFuse;  // native names are assigned when the graph is written
  if (!dumps || process.flags().dump_dir.empty()) return Rewrite(graph, rewrite).status();
  const GraphDump dump(process.flags().dump_dir);
  rewrite.dump = [&](absl::string_view phase, const Graph& g) { dump.Write(phase, g); };
  TENON_ASSIGN_OR_RETURN(const RewriteReport report, Rewrite(graph, rewrite));
  dump.WriteReport(report);
  return absl::OkStatus();
}

// Replaces parts that have loops or branches, or remain several kernels when they are rewritten.
absl::Status ReplaceParts(Process& process, ProcessGraph& in, const OutputsFn& outputs) {
  TENON_ASSIGN_OR_RETURN(const std::vector<Subgraph> parts,
                         FindSubgraphs(in, kLeastAccelerated, outputs));
  Rewriter rewriter(in.graph());
  for (const Subgraph& part : parts) {
    if (!part.has_control_flow) {
      Graph rewritten = part.graph;
      TENON_RETURN_IF_ERROR(RunPhases(process, rewritten, /*dumps=*/false));
      if (CountKernels(rewritten) < kLeastKernels) continue;
    }
    TENON_RETURN_IF_ERROR(ReplaceSubgraph(rewriter, part));
    if (process.flags().dump_dir.empty()) continue;
    Graph rewritten = part.graph;
    TENON_RETURN_IF_ERROR(RunPhases(process, rewritten, /*dumps=*/true));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> RewriteGraphDef(const TF_Buffer& graph, const TF_GrapplerItem* item) {
  TENON_ASSIGN_OR_RETURN(Process* const process, Process::Get());
  ProcessGraphOptions options;
  options.names = NamesInTensorFlow();
  TENON_ASSIGN_OR_RETURN(options.preserved,
                         ReadNames(item, TF_GetNodesToPreserveListSize, TF_GetNodesToPreserveList));
  TENON_ASSIGN_OR_RETURN(options.fetched,
                         ReadNames(item, TF_GetFetchNodesListSize, TF_GetFetchNodesList));
  std::unique_ptr<Properties> properties;
  options.outputs = [&](const std::string& node) {
    if (properties == nullptr) properties = std::make_unique<Properties>(item);
    return properties->OutputsOf(node);
  };
  TENON_ASSIGN_OR_RETURN(const std::unique_ptr<ProcessGraph> in,
                         ProcessGraph::Parse(Bytes(graph), options));
  const std::vector<std::string> ops = in->Ops();
  const ProcessNames& names = options.names;
  if (std::none_of(ops.begin(), ops.end(),
                   [&](const std::string& op) { return IsOurs(names, op); })) {
    return "";
  }
  TENON_RETURN_IF_ERROR(in->Import());

  if (process->flags().subgraphs && !HasPrivateOps(ops)) {
    TENON_RETURN_IF_ERROR(ReplaceParts(*process, *in, options.outputs));
  }
  TENON_RETURN_IF_ERROR(RunPhases(*process, in->graph(), /*dumps=*/true));
  return in->Serialize();
}

}  // namespace tenon::plugin
