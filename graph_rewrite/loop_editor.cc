#include "graph_rewrite/loop_editor.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace tenon {
namespace {

NodeId AddArgument(Rewriter& rewriter, absl::string_view name, DType dtype) {
  Node n;
  n.name = std::string(name);
  n.op = "Placeholder";
  n.attrs["dtype"] = dtype;
  n.attrs["shape"] = Shape::Unknown();
  return rewriter.AddNode(std::move(n));
}

bool TakesItems(const Graph& body) {
  for (const NodeId id : body.NodeIds()) {
    // op names: of lists
    if (body.node(id).op == "TensorListPopBack" || body.node(id).op == "TensorListGetItem")
      return true;
  }
  return false;
}

// A name for what a function becomes.
std::string NewFunction(const FunctionLibrary& functions, absl::string_view before) {
  for (int i = 1;; ++i) {
    std::string name = absl::StrCat(before, "_", i);
    if (!functions.contains(name)) return name;
  }
}

}  // namespace

Endpoint LoopEditor::WithoutIdentities(const Graph& graph, Endpoint e) {
  while (graph.node(e.node).op == "Identity") e = graph.node(e.node).inputs[0];
  return e;
}

absl::Status LoopEditor::Open() {
  const Node& loop = context_.node(loop_);
  const FunctionLibrary& own = context_.graph().functions();
  const FuncRef* body = loop.attr<FuncRef>("body");
  const FuncRef* cond = loop.attr<FuncRef>("cond");
  if (body == nullptr || cond == nullptr || !own.contains(body->name) ||
      !own.contains(cond->name)) {
    return WhyNot("the loop is in a function");
  }
  cond_ = own.at(cond->name);
  if (!TakesItems(*own.at(body->name))) return WhyNot("its body takes no items of lists");
  body_ = *own.at(body->name);
  const size_t n = loop.inputs.size();
  const auto* dtypes = loop.attr<std::vector<DType>>("T");
  if (cond_->inputs().size() != n || body_.inputs().size() != n || body_.outputs().size() != n ||
      cond_->outputs().size() != 1 || dtypes == nullptr || dtypes->size() != n) {
    return WhyNot("its functions have other signatures");
  }
  if (!body_.TopologicalOrder().ok()) return WhyNot("its body is cyclic");
  num_outputs_ = n;
  rw_.emplace(body_);
  shapes_.emplace(*rw_, context_.services, &own);
  return absl::OkStatus();
}

Endpoint LoopEditor::result(int variable) const {
  const size_t v = static_cast<size_t>(variable);
  return WithoutIdentities(
      body_, v < num_outputs_ ? body_.outputs()[v].source : added_[v - num_outputs_].next);
}

void LoopEditor::SetNext(int variable, Endpoint e) {
  added_[static_cast<size_t>(variable) - num_outputs_].next = e;
}

void LoopEditor::Replace(Endpoint from, Endpoint to) {
  rw_->ReplaceAllUses(from, to);
  rw_->RemoveIfDead(from.node);
}

int LoopEditor::VariableOf(Endpoint e) const {
  for (int v = 0; v < num_variables(); ++v) {
    if (argument(v) == e) return v;
  }
  return -1;
}

bool LoopEditor::DecidesEnd(int variable) const {
  const NodeId argument = cond_->inputs()[static_cast<size_t>(variable)].node;
  for (const NodeId id : cond_->NodeIds()) {
    for (const Endpoint& e : cond_->node(id).inputs) {
      if (e.node == argument) return true;
    }
  }
  return cond_->outputs()[0].source.node == argument;
}

int LoopEditor::AddVariable(absl::string_view name, Endpoint initial, DType dtype) {
  const NodeId argument = AddArgument(*rw_, name, dtype);
  body_.AddInput({body_.node(argument).name, argument});
  added_.push_back({std::string(name), initial, dtype, {argument, 0}});
  return num_variables() - 1;
}

void LoopEditor::Commit() {
  shapes_.reset();
  rw_.reset();
  std::vector<GraphOutput> outputs = body_.outputs();
  for (const Added& a : added_) outputs.push_back({.name = a.name, .source = a.next});
  body_.SetOutputs(std::move(outputs));

  Graph cond = *cond_;
  Node loop = context_.node(loop_);
  auto dtypes = *loop.attr<std::vector<DType>>("T");
  std::vector<Shape> shapes;
  if (const auto* found = loop.attr<std::vector<Shape>>("output_shapes")) shapes = *found;
  {
    Rewriter rewriter(cond);
    for (const Added& a : added_) {
      const NodeId argument = AddArgument(rewriter, a.name, a.dtype);
      cond.AddInput({cond.node(argument).name, argument});
      loop.inputs.push_back(a.initial);
      dtypes.push_back(a.dtype);
      if (!shapes.empty()) shapes.push_back(Shape::Unknown());
    }
  }
  const auto replace = [&](const char* attr, Graph function) {
    const FunctionLibrary& functions = context_.graph().functions();
    FuncRef ref = *loop.attr<FuncRef>(attr);
    ref.name = NewFunction(functions, ref.name);
    context_.rw.SetFunction(ref.name, std::make_shared<const Graph>(std::move(function)));
    context_.rw.SetAttr(loop_, attr, std::move(ref));
  };
  replace("body", std::move(body_));
  replace("cond", std::move(cond));
  context_.rw.SetInputs(loop_, loop.inputs);
  context_.rw.SetAttr(loop_, "T", std::move(dtypes));
  if (!shapes.empty()) context_.rw.SetAttr(loop_, "output_shapes", std::move(shapes));
}

}  // namespace tenon
