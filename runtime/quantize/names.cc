#include "runtime/quantize/names.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "env/containers.h"
#include "graph/rewriter.h"
#include "ops/op.h"

namespace tenon {

namespace {

// Gives the name to the node; another one that has it gets another name.
void TakeName(Rewriter& rw, NodeId id, const std::string& name) {
  const Node* const there = rw.graph().FindNode(name);
  if (there != nullptr && there->id == id) return;
  if (there != nullptr) rw.Rename(there->id, rw.graph().UniqueName(name));
  rw.Rename(id, name);
}

// The name that a node must have to be found as the output; "" if it is another than a node's first
// one ("split:1"), which only that node has.
std::string NodeNameOf(const GraphOutput& output) {
  const std::string& name = output.name;
  const size_t colon = name.find(':');
  if (colon == std::string::npos) return name;
  return name.substr(colon) == ":0" ? name.substr(0, colon) : "";
}

}  // namespace

void NameByKeys(Graph& graph) {
  HashSet<std::string> taken;
  std::vector<GraphOutput> outputs = graph.outputs();
  {
    Rewriter rw(graph);
    for (const GraphInput& input : graph.inputs()) {
      TakeName(rw, input.node, input.name);
      taken.insert(input.name);
    }
    for (GraphOutput& output : outputs) {
      const std::string name = NodeNameOf(output);
      if (name.empty() || taken.contains(name)) continue;
      const Node& source = graph.node(output.source.node);
      if (output.source.port == 0 && source.name == name) continue;
      const OpLookup op = FindOp(source.op);
      if (!op) continue;
      const auto dtypes = OutputDTypes(*op.info, source);
      const auto port = static_cast<size_t>(output.source.port);
      if (!dtypes.ok() || port >= dtypes->size()) continue;
      Node named;
      named.name = absl::StrCat(name, "/named");
      named.op = "Identity";
      named.inputs = {output.source};
      named.attrs["T"] = (*dtypes)[port];
      output.source = {rw.AddNode(std::move(named)), 0};
      TakeName(rw, output.source.node, name);
    }
  }
  graph.SetOutputs(std::move(outputs));
}

}  // namespace tenon
