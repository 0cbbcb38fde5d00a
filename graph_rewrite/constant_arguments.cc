#include "graph_rewrite/constant_arguments.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "env/containers.h"
#include "graph/functions.h"
#include "graph/rewriter.h"
#include "graph_rewrite/loop_invariants.h"
#include "graph_rewrite/sequence_lengths.h"
#include "ops/op.h"

namespace tenon {
namespace {

class Binder {
 public:
  explicit Binder(Graph& graph) : graph_(graph), functions_(graph.TakeFunctions()) {
    Count(graph_);
    for (const auto& [name, body] : functions_) Count(*body);
  }

  void Run() {
    Bind(graph_);
    graph_.SetFunctions(std::move(functions_));
  }

 private:
  void Count(const Graph& graph) {
    for (const NodeId id : graph.NodeIds()) {
      ForEachNamedFunction(graph.node(id), [&](const FuncRef& f) { ++calls_[f.name]; });
    }
  }

  // The constant that the input is, or null.
  static const Node* ConstantOf(const Graph& graph, Endpoint e) {
    const Node* n = &graph.node(e.node);
    while (n->op == "Identity") n = &graph.node(n->inputs[0].node);
    return n->op == "Const" ? n : nullptr;
  }

  // Whether it is a vector of integers that the function compares with something, as the lengths of
  // sequences with the number of a step. A rule reads it outside of the loop.
  static bool IsLengths(const Node& constant, const Graph& body, const std::vector<Use>& uses) {
    const auto* value = constant.attr<Tensor>("value");
    return value != nullptr && IsInteger(value->dtype()) && value->shape().rank() == 1 &&
           std::any_of(uses.begin(), uses.end(),
                       [&](const Use& use) { return ComparesBySize(body.node(use.reader).op); });
  }

  void Bind(const Graph& graph) {
    for (const NodeId id : graph.NodeIds()) {
      const Node& n = graph.node(id);
      const ControlFlow flow = FactsOf(n.op).control_flow;
      if (flow == ControlFlow::kNone) continue;
      const bool loops = flow == ControlFlow::kWhile;
      const size_t first = loops ? 0 : 1;  // behind the condition, or the index
      std::vector<const Node*> arguments;
      for (size_t i = first; i < n.inputs.size(); ++i) {
        arguments.push_back(ConstantOf(graph, n.inputs[i]));
      }
      const auto* body = n.attr<FuncRef>("body");
      if (loops) {
        const auto found = body == nullptr ? functions_.end() : functions_.find(body->name);
        if (found == functions_.end()) continue;
        std::vector<bool> invariant = InvariantArguments(*found->second);
        invariant.resize(arguments.size(), false);
        for (size_t i = 0; i < arguments.size(); ++i) {
          if (!invariant[i]) arguments[i] = nullptr;
        }
      }
      ForEachNamedFunction(n, [&](const FuncRef& f) { BindIn(f.name, arguments); });
    }
  }

  void BindIn(const std::string& name, const std::vector<const Node*>& arguments) {
    const auto function = functions_.find(name);
    if (function == functions_.end() || calls_[name] != 1) return;
    const std::shared_ptr<const Graph> before = function->second;
    if (std::all_of(arguments.begin(), arguments.end(), [](auto* n) { return n == nullptr; })) {
      return Bind(*before);
    }
    Graph body = *before;
    Rewriter rewriter(body);
    for (size_t i = 0; i < std::min(arguments.size(), body.inputs().size()); ++i) {
      if (arguments[i] == nullptr) continue;
      const NodeId argument = body.inputs()[i].node;
      const auto found = rewriter.uses(argument);
      const std::vector<Use> uses(found.begin(), found.end());
      if (IsLengths(*arguments[i], body, uses)) continue;
      Node constant;
      constant.name = body.node(argument).name + "/constant";
      constant.op = "Const";
      constant.attrs = arguments[i]->attrs;
      const NodeId value = rewriter.AddNode(std::move(constant));
      for (const Use& use : uses) {  // what is passed on remains the argument
        if (!use.is_control()) rewriter.SetInput(use.reader, use.slot, {value, 0});
      }
    }
    Bind(body);
    function->second = std::make_shared<const Graph>(std::move(body));
  }

  Graph& graph_;
  FunctionLibrary functions_;
  HashMap<std::string, int> calls_;
};

}  // namespace

void BindConstantArguments(Graph& graph) {
  if (!graph.functions().empty()) Binder(graph).Run();
}

}  // namespace tenon
