#include "graph_rewrite/functions.h"

#include <string>
#include <utility>
#include <vector>

#include "env/containers.h"

namespace tenon {
namespace {

void AddCalled(const Graph& graph, HashSet<std::string>& called, std::vector<std::string>& todo) {
  auto add = [&](const FuncRef& f) {
    if (called.insert(f.name).second) todo.push_back(f.name);
  };
  for (NodeId id : graph.NodeIds()) {
    for (const auto& [name, value] : graph.node(id).attrs) {
      if (const auto* f = value.get_if<FuncRef>()) add(*f);
      if (const auto* list = value.get_if<std::vector<FuncRef>>()) {
        for (const FuncRef& f : *list) add(f);
      }
    }
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
