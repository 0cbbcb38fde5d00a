#include "runtime/quantize/names.h"

#include <string>
#include <utility>
#include <vector>

#include "graph/rewriter.h"
#include "ops/op.h"

namespace tenon {

void NameByKeys(Graph& graph) {
  std::vector<GraphOutput> outputs = graph.outputs();
  for (GraphOutput& output : outputs) {
    if (output.name.find(':') != std::string::npos || graph.FindNode(output.name) != nullptr) {
      continue;
    }
    const OpLookup op = FindOp(graph.node(output.source.node).op);
    if (!op) continue;
    const auto dtypes = OutputDTypes(*op.info, graph.node(output.source.node));
    const auto port = static_cast<size_t>(output.source.port);
    if (!dtypes.ok() || port >= dtypes->size()) continue;
    Node named;
    named.name = output.name;
    named.op = "Identity";
    named.inputs = {output.source};
    named.attrs["T"] = (*dtypes)[port];
    if (const auto id = graph.AddNode(std::move(named)); id.ok()) output.source = {*id, 0};
  }
  graph.SetOutputs(std::move(outputs));
  Rewriter rw(graph);
  for (const GraphInput& input : graph.inputs()) {
    if (graph.FindNode(input.name) == nullptr) rw.Rename(input.node, input.name);
  }
}

}  // namespace tenon
