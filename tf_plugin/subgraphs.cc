#include "tf_plugin/subgraphs.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "env/status.h"
#include "ops/op.h"
#include "ops/rename.h"
#include "proto/import/model.h"
#include "tf_plugin/names.h"
#include "tf_plugin/subgraph_finder.h"

namespace tenon::plugin {
namespace {

// Fills in graph_def and what follows it. Inputs that the outputs do not need go.
absl::Status Extract(const ProcessGraph& process, const Graph& graph, const OutputsFn& outputs_of,
                     HashMap<NodeId, DType> values, Subgraph& part) {
  ProcessPart extracted;
  for (const Subgraph::Input& input : part.inputs) {
    TensorSpec spec;
    if (!input.is_handle) {
      const std::vector<TensorSpec> specs = outputs_of(graph.node(input.source.node).name);
      const auto port = static_cast<size_t>(input.source.port);
      if (port < specs.size()) spec = specs[port];
    }
    spec.dtype = input.dtype;
    extracted.inputs.push_back({input.source, std::move(spec)});
  }
  extracted.nodes = part.nodes;
  extracted.outputs = part.outputs;
  extracted.values = std::move(values);
  TENON_ASSIGN_OR_RETURN(ProcessExtract extract, process.Extract(extracted));
  part.graph_def = std::move(extract.graph_def);
  part.fetches = std::move(extract.fetches);
  LoadOptions load;
  load.fetches = part.fetches;
  TENON_ASSIGN_OR_RETURN(Model model, ParseModel(part.graph_def, load));
  part.graph = std::move(model.graph);
  HashSet<std::string> needed;
  for (const GraphInput& input : part.graph.inputs()) needed.insert(input.name);
  std::vector<Subgraph::Input> inputs;
  for (size_t i = 0; i < part.inputs.size(); ++i) {
    if (!needed.contains(extract.feeds[i])) continue;
    inputs.push_back(part.inputs[i]);
    part.feeds.push_back(std::move(extract.feeds[i]));
  }
  part.inputs = std::move(inputs);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<Subgraph>> FindSubgraphs(ProcessGraph& process, int least_accelerated,
                                                    const OutputsFn& outputs_of) {
  const Graph& graph = process.graph();
  TENON_ASSIGN_OR_RETURN(std::vector<NodeId> order, graph.TopologicalOrder());
  SubgraphFinder finder(process, graph, std::move(order));
  while (true) {
    std::vector<Subgraph> parts;
    bool all = true;
    for (Subgraph& part : finder.Find(least_accelerated)) {
      const absl::Status status = Extract(process, graph, outputs_of, finder.ValuesIn(part), part);
      // Control flow in a form that import does not know.
      if (!status.ok() && part.has_control_flow) {
        finder.LeaveOutRegions(part);
        all = false;
        break;
      }
      if (status.ok() && !part.inputs.empty()) parts.push_back(std::move(part));
    }
    if (all) return parts;
  }
}

absl::Status ReplaceSubgraph(Rewriter& rewriter, const Subgraph& part) {
  const Graph& graph = rewriter.graph();
  Node whole;
  whole.op = kSubgraphOp;
  whole.name = absl::StrCat(graph.node(part.outputs[0].node).name, "/subgraph");
  whole.control_inputs.assign(part.waits_for.begin(), part.waits_for.end());
  whole.attrs["graph"] = part.graph_def;
  whole.attrs["feeds"] = part.feeds;
  whole.attrs["fetches"] = part.fetches;
  // Reads of variables wait for all that the part waits for, as reads within it would.
  std::vector<NodeId> before = part.waits_for;
  for (const Subgraph::Input& input : part.inputs) {
    if (!input.is_handle) before.push_back(input.source.node);
  }
  std::vector<DType> in, out;
  std::vector<int64_t> stable;
  for (const Subgraph::Input& input : part.inputs) {
    if (input.is_stable) stable.push_back(static_cast<int64_t>(in.size()));
    in.push_back(input.dtype);
    Endpoint source = input.source;
    if (input.is_handle) {
      Node read;
      read.op = "ReadVariableOp";
      read.name = absl::StrCat(graph.node(source.node).name, "/read");
      read.inputs.push_back(source);
      read.control_inputs.assign(before.begin(), before.end());
      read.attrs["dtype"] = DType(input.dtype);
      source = {rewriter.AddNode(std::move(read)), 0};
    }
    whole.inputs.push_back(source);
  }
  for (const GraphOutput& output : part.graph.outputs()) {
    const Node& n = part.graph.node(output.source.node);
    TENON_ASSIGN_OR_RETURN(const std::vector<DType> all, OutputDTypes(*FindOp(n.op).info, n));
    out.push_back(all[static_cast<size_t>(output.source.port)]);
  }
  whole.attrs["Tin"] = std::move(in);
  whole.attrs["Tout"] = std::move(out);
  whole.attrs[kStableInputsAttr] = std::move(stable);

  const NodeId id = rewriter.AddNode(std::move(whole));
  for (size_t o = 0; o < part.outputs.size(); ++o) {
    rewriter.ReplaceAllUses(part.outputs[o], {id, static_cast<int>(o)});
  }
  for (auto node = part.nodes.rbegin(); node != part.nodes.rend(); ++node) {
    rewriter.ReplaceControlUses(*node, id);
    rewriter.Remove(*node);
  }
  return absl::OkStatus();
}

}  // namespace tenon::plugin
