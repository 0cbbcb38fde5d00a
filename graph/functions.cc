#include "graph/functions.h"

#include <string>
#include <utility>
#include <vector>

#include "env/containers.h"

namespace tenon {

void ForEachNamedFunction(const Node& node, absl::FunctionRef<void(const FuncRef&)> visit) {
  for (const auto& [name, value] : node.attrs) {
    if (const auto* f = value.get_if<FuncRef>()) visit(*f);
    if (const auto* list = value.get_if<std::vector<FuncRef>>()) {
      for (const FuncRef& f : *list) visit(f);
    }
  }
}

namespace {

void AddCalled(const Graph& graph, HashSet<std::string>& called, std::vector<std::string>& todo) {
  for (NodeId id : graph.NodeIds()) {
    ForEachNamedFunction(graph.node(id), [&](const FuncRef& f) {
      if (called.insert(f.name).second) todo.push_back(f.name);
    });
  }
}

}  // namespace

void DropUnusedFunctions(Graph& graph) {
  if (graph.functions().empty()) return;
  HashSet<std::string> called;
  std::vector<std::string> todo;
  AddCalled(graph, called, todo);
  while (!todo.empty()) {
    const std::string name = std::move(todo.back());
    todo.pop_back();
    const auto it = graph.functions().find(name);
    if (it != graph.functions().end()) AddCalled(*it->second, called, todo);
  }
  FunctionLibrary kept = graph.TakeFunctions();
  erase_if(kept, [&](const auto& f) { return !called.contains(f.first); });
  graph.SetFunctions(std::move(kept));
}

}  // namespace tenon
