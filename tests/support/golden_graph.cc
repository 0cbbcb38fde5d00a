#include "tests/support/golden_graph.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "env/status.h"

namespace tenon {

namespace {

// An input of the graph.
absl::StatusOr<NodeId> AddPlaceholder(Graph& graph, const std::string& name, DType dtype,
                                      Shape shape) {
  Node node;
  node.name = name;
  node.op = "Placeholder";
  node.attrs["dtype"] = dtype;
  node.attrs["shape"] = std::move(shape);
  TENON_ASSIGN_OR_RETURN(const NodeId id, graph.AddNode(std::move(node)));
  graph.AddInput({name, id});
  return id;
}

absl::StatusOr<NodeId> AddConst(Graph& graph, const std::string& name, const Tensor& value) {
  Node node;
  node.name = name;
  node.op = "Const";
  node.attrs["dtype"] = value.dtype();
  node.attrs["value"] = value;
  return graph.AddNode(std::move(node));
}

}  // namespace

absl::StatusOr<Graph> GoldenGraph(const Node& node, const std::vector<Tensor>& inputs,
                                  const std::vector<GraphInputKind>& kinds, size_t num_outputs) {
  Graph graph;
  Node called = node;
  called.inputs.clear();
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& t = inputs[i];
    const Shape shape = kinds[i] == GraphInputKind::kFed ? t.shape() : Shape::Unknown();
    TENON_ASSIGN_OR_RETURN(const NodeId id,
                           kinds[i] == GraphInputKind::kConstant
                               ? AddConst(graph, absl::StrCat("value", i), t)
                               : AddPlaceholder(graph, absl::StrCat("in", i), t.dtype(), shape));
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

absl::StatusOr<Graph> InBranch(Graph body, const std::vector<DType>& outputs) {
  Graph graph;
  Node call;
  call.name = "branch";
  call.op = "StatelessIf";
  TENON_ASSIGN_OR_RETURN(const NodeId flag, AddPlaceholder(graph, "flag", DType::kBool, Shape()));
  call.inputs.push_back({flag, 0});
  std::vector<DType> dtypes;
  for (const GraphInput& input : body.inputs()) {
    const Node& fed = body.node(input.node);
    dtypes.push_back(*fed.attr<DType>("dtype"));
    TENON_ASSIGN_OR_RETURN(const NodeId id, AddPlaceholder(graph, input.name, dtypes.back(),
                                                           *fed.attr<Shape>("shape")));
    call.inputs.push_back({id, 0});
  }
  call.attrs["Tcond"] = DType::kBool;
  call.attrs["Tin"] = dtypes;
  call.attrs["Tout"] = outputs;
  call.attrs["then_branch"] = FuncRef{"body", nullptr};
  call.attrs["else_branch"] = FuncRef{"body", nullptr};
  TENON_ASSIGN_OR_RETURN(const NodeId id, graph.AddNode(std::move(call)));
  for (size_t i = 0; i < outputs.size(); ++i) {
    graph.AddOutput({absl::StrCat("out", i), {id, static_cast<int>(i)}});
  }
  graph.SetFunction("body", std::make_shared<const Graph>(std::move(body)));
  return graph;
}

}  // namespace tenon
