#include "tools/eager_model.h"

#include <utility>

#include "env/status.h"

namespace tenon {

absl::StatusOr<std::unique_ptr<EagerModel>> EagerModel::Create(Graph graph,
                                                               const SessionOptions& options) {
  std::unique_ptr<EagerModel> model(new EagerModel());
  TENON_ASSIGN_OR_RETURN(model->eager_, Eager::Create(options));
  model->graph_ = std::move(graph);
  const Graph& g = model->graph_;
  TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> order, g.TopologicalOrder());
  model->values_.resize(static_cast<size_t>(g.end_id()));
  for (NodeId id : order) {
    const Node& node = g.node(id);
    if (node.op == "Const") {
      const Tensor* value = node.attr<Tensor>("value");
      if (value == nullptr) return InvalidArgument(NodeLabel(node), " has no value");
      model->values_[static_cast<size_t>(id)] = {*value};
    } else if (node.op != "Placeholder" && node.op != "NoOp") {
      model->calls_.push_back(id);
    }
  }
  return model;
}

std::vector<TensorInfo> EagerModel::inputs() const {
  std::vector<TensorInfo> infos;
  for (const GraphInput& input : graph_.inputs()) {
    const Node& node = graph_.node(input.node);
    TensorInfo info;
    info.name = input.name;
    if (const DType* dtype = node.attr<DType>("dtype")) info.dtype = *dtype;
    if (const Shape* shape = node.attr<Shape>("shape")) info.shape = *shape;
    infos.push_back(std::move(info));
  }
  return infos;
}

absl::StatusOr<std::vector<Tensor>> EagerModel::Run(absl::Span<const Tensor> inputs) {
  if (inputs.size() != graph_.inputs().size()) {
    return InvalidArgument("the model has ", graph_.inputs().size(), " inputs, got ",
                           inputs.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    values_[static_cast<size_t>(graph_.inputs()[i].node)] = {inputs[i]};
  }
  const auto value = [&](const Endpoint& e) -> absl::StatusOr<Tensor> {
    const std::vector<Tensor>& made = values_[static_cast<size_t>(e.node)];
    if (static_cast<size_t>(e.port) >= made.size()) {
      return InvalidArgument("'", graph_.node(e.node).name, "' has no value");
    }
    return made[static_cast<size_t>(e.port)];
  };
  absl::InlinedVector<Tensor, 4> in;
  for (NodeId id : calls_) {
    const Node& node = graph_.node(id);
    in.clear();
    for (const Endpoint& e : node.inputs) {
      TENON_ASSIGN_OR_RETURN(Tensor t, value(e));
      in.push_back(std::move(t));
    }
    absl::StatusOr<std::vector<Tensor>> out = eager_->Execute(node.op, in, node.attrs);
    if (!out.ok()) return Annotate(out.status(), NodeLabel(node));
    values_[static_cast<size_t>(id)] = *std::move(out);
  }
  std::vector<Tensor> outputs;
  for (const GraphOutput& output : graph_.outputs()) {
    TENON_ASSIGN_OR_RETURN(Tensor t, value(output.source));
    outputs.push_back(std::move(t));
  }
  return outputs;
}

absl::StatusOr<std::vector<Tensor>> EagerModel::Arrange(
    absl::Span<const NamedTensor> inputs) const {
  std::vector<Tensor> arranged;
  for (const GraphInput& input : graph_.inputs()) {
    for (const auto& [name, tensor] : inputs) {
      if (name == input.name) arranged.push_back(tensor);
    }
  }
  if (arranged.size() != graph_.inputs().size()) {
    return InvalidArgument("an input of the model is missing, or given twice");
  }
  return arranged;
}

absl::StatusOr<std::vector<NamedTensor>> EagerModel::Run(absl::Span<const NamedTensor> inputs) {
  TENON_ASSIGN_OR_RETURN(const std::vector<Tensor> arranged, Arrange(inputs));
  TENON_ASSIGN_OR_RETURN(std::vector<Tensor> outputs, Run(arranged));
  std::vector<NamedTensor> named;
  for (size_t i = 0; i < outputs.size(); ++i) {
    named.emplace_back(graph_.outputs()[i].name, std::move(outputs[i]));
  }
  return named;
}

}  // namespace tenon
