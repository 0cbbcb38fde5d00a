#include "tests/support/golden_graph.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "env/status.h"

namespace tenon {

absl::StatusOr<Graph> GoldenGraph(const Node& node, const std::vector<Tensor>& inputs,
                                  const std::vector<GraphInputKind>& kinds, size_t num_outputs) {
  Graph graph;
  Node called = node;
  called.inputs.clear();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool constant = kinds[i] == GraphInputKind::kConstant;
    Node input;
    input.name = absl::StrCat(constant ? "value" : "in", i);
    input.op = constant ? "Const" : "Placeholder";
    input.attrs["dtype"] = inputs[i].dtype();
    if (constant) input.attrs["value"] = inputs[i];
    if (kinds[i] == GraphInputKind::kFed) input.attrs["shape"] = inputs[i].shape();
    if (kinds[i] == GraphInputKind::kFedUnknownShape) input.attrs["shape"] = Shape::Unknown();
    const std::string name = input.name;
    TENON_ASSIGN_OR_RETURN(const NodeId id, graph.AddNode(std::move(input)));
    if (!constant) graph.AddInput({name, id});
    called.inputs.push_back({id, 0});
  }
  called.name = "golden";
  TENON_ASSIGN_OR_RETURN(const NodeId id, graph.AddNode(std::move(called)));
  for (size_t i = 0; i < num_outputs; ++i) {
    graph.AddOutput({absl::StrCat("out", i), {id, static_cast<int>(i)}});
  }
  if (num_outputs == 0) graph.AddTarget(id);
  return graph;
}

}  // namespace tenon
