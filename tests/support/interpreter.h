// Runs a graph node by node through ops/evaluate.h: the simplest way to its results, for tests.
#ifndef TENON_TESTS_SUPPORT_INTERPRETER_H_
#define TENON_TESTS_SUPPORT_INTERPRETER_H_

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "env/status.h"
#include "graph/graph.h"
#include "graph/rewriter.h"
#include "graph/tensor.h"
#include "ops/evaluate.h"
#include "ops/op.h"

namespace tenon::testing {

inline absl::StatusOr<std::vector<Tensor>> InterpretWhile(const Graph& graph, const Node& loop,
                                                          std::vector<Tensor> variables,
                                                          const Services& services);

// Graph outputs in order. `feeds`: a tensor for each Placeholder, by node name. `library` has the
// functions that loops call; null: those of the graph.
inline absl::StatusOr<std::vector<Tensor>> Interpret(const Graph& graph,
                                                     const std::map<std::string, Tensor>& feeds,
                                                     const Services& services,
                                                     const Graph* library = nullptr) {
  if (library == nullptr) library = &graph;
  TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> order, graph.TopologicalOrder());
  std::map<NodeId, std::vector<Tensor>> values;
  auto value = [&](Endpoint e) -> absl::StatusOr<Tensor> {
    const std::vector<Tensor>& v = values[e.node];
    if (static_cast<size_t>(e.port) >= v.size()) {
      return Internal("'", graph.node(e.node).name, "' has no output ", e.port);
    }
    return v[static_cast<size_t>(e.port)];
  };
  for (NodeId id : order) {
    const Node& n = graph.node(id);
    if (n.op == "Placeholder") {
      auto feed = feeds.find(n.name);
      if (feed == feeds.end()) return InvalidArgument("no feed for '", n.name, "'");
      values[id] = {feed->second};
      continue;
    }
    if (n.op == "Const") {
      values[id] = {*n.attr<Tensor>("value")};
      continue;
    }
    std::vector<Tensor> inputs;
    for (const Endpoint& e : n.inputs) {
      TENON_ASSIGN_OR_RETURN(Tensor t, value(e));
      inputs.push_back(std::move(t));
    }
    if (FactsOf(n.op).control_flow == ControlFlow::kWhile) {
      TENON_ASSIGN_OR_RETURN(values[id], InterpretWhile(*library, n, std::move(inputs), services));
      continue;
    }
    TENON_ASSIGN_OR_RETURN(values[id], Evaluate(n, inputs, services));
  }
  std::vector<Tensor> out;
  for (const GraphOutput& o : graph.outputs()) {
    TENON_ASSIGN_OR_RETURN(Tensor t, value(o.source));
    out.push_back(std::move(t));
  }
  return out;
}

inline absl::StatusOr<std::vector<Tensor>> InterpretWhile(const Graph& graph, const Node& loop,
                                                          std::vector<Tensor> variables,
                                                          const Services& services) {
  auto call = [&](const char* attr) -> absl::StatusOr<std::vector<Tensor>> {
    const Graph& function = *graph.functions().at(loop.attr<FuncRef>(attr)->name);
    std::map<std::string, Tensor> feeds;
    for (size_t i = 0; i < variables.size(); ++i) {
      feeds[function.node(function.inputs()[i].node).name] = variables[i];
    }
    return Interpret(function, feeds, services, &graph);
  };
  while (true) {
    TENON_ASSIGN_OR_RETURN(const std::vector<Tensor> more, call("cond"));
    if (!*more[0].data<bool>()) return variables;
    TENON_ASSIGN_OR_RETURN(variables, call("body"));
  }
}

// Fills in what a test's text omits: type attributes that follow from inputs, counts, defaults.
inline absl::Status CompleteGraph(Graph& graph) {
  const FunctionLibrary functions = graph.functions();
  for (const auto& [name, function] : functions) {
    auto completed = std::make_shared<Graph>(*function);
    TENON_RETURN_IF_ERROR(CompleteGraph(*completed));
    graph.SetFunction(name, std::move(completed));
  }
  TENON_ASSIGN_OR_RETURN(const std::vector<NodeId> order, graph.TopologicalOrder());
  Rewriter rw(graph);
  std::map<NodeId, std::vector<DType>> dtypes;
  for (NodeId id : order) {
    Node n = graph.node(id);
    if (const Tensor* t = n.attr<Tensor>("value"); n.op == "Const" && t != nullptr) {
      n.attrs.emplace("dtype", t->dtype());
    }
    if (n.op == "Placeholder") n.attrs.emplace("dtype", DType::kFloat);
    const OpLookup op = FindOp(n.op);
    if (!op) {
      dtypes[id] = {DType::kFloat};
      continue;
    }
    size_t at = 0;
    auto dtype_at = [&](size_t i) {
      if (i >= n.inputs.size()) return DType::kFloat;
      const auto& d = dtypes[n.inputs[i].node];
      const size_t port = static_cast<size_t>(n.inputs[i].port);
      return port < d.size() ? d[port] : DType::kFloat;
    };
    const OpSignature& s = op.info->signature;
    for (const ArgSpec& arg : s.inputs) {
      if (!arg.type_list_attr.empty()) {
        std::vector<DType> list;
        for (; at < n.inputs.size(); ++at) list.push_back(dtype_at(at));
        n.attrs.emplace(arg.type_list_attr, std::move(list));
        continue;
      }
      if (!arg.type_attr.empty()) n.attrs.emplace(arg.type_attr, dtype_at(at));
      int64_t count = 1;
      if (!arg.number_attr.empty()) {
        count = static_cast<int64_t>(n.inputs.size()) - static_cast<int64_t>(s.inputs.size()) + 1;
        n.attrs.emplace(arg.number_attr, count);
      }
      at += static_cast<size_t>(std::max<int64_t>(count, 0));
    }
    TENON_RETURN_IF_ERROR(CompleteAttrs(*op.info, n));
    TENON_ASSIGN_OR_RETURN(dtypes[id], OutputDTypes(*op.info, n));
    for (const auto& [name, value] : n.attrs) {
      auto it = graph.node(id).attrs.find(name);
      if (it == graph.node(id).attrs.end()) rw.SetAttr(id, name, value);
    }
  }
  return absl::OkStatus();
}

// Adds seeded values for every Placeholder that is not in `feeds`: floats in -2..2, integers in
// 0..3. Unknown dimensions become `unknown`; an unknown rank becomes a vector.
inline absl::Status FeedRandomly(const Graph& graph, uint32_t seed, int64_t unknown,
                                 std::map<std::string, Tensor>& feeds) {
  std::mt19937 gen(seed);
  for (NodeId id : graph.NodeIds()) {
    const Node& n = graph.node(id);
    if (n.op != "Placeholder" || feeds.contains(n.name)) continue;
    const Shape* given = n.attr<Shape>("shape");
    Shape shape = given == nullptr || !given->has_rank() ? Shape({unknown}) : *given;
    for (int d = 0; d < shape.rank(); ++d) {
      if (shape.dim(d) < 0) shape.set_dim(d, unknown);
    }
    const DType* dtype = n.attr<DType>("dtype");
    TENON_ASSIGN_OR_RETURN(Tensor t,
                           Tensor::Allocate(dtype == nullptr ? DType::kFloat : *dtype, shape));
    for (int64_t i = 0; i < t.num_elements(); ++i) {
      const double u = gen() / 4294967296.0;
      if (t.dtype() == DType::kFloat) {
        t.data<float>()[i] = static_cast<float>(4 * u - 2);
      } else if (t.dtype() == DType::kDouble) {
        t.data<double>()[i] = 4 * u - 2;
      } else if (t.dtype() == DType::kInt32) {
        t.data<int32_t>()[i] = static_cast<int32_t>(4 * u);
      } else if (t.dtype() == DType::kInt64) {
        t.data<int64_t>()[i] = static_cast<int64_t>(4 * u);
      } else if (t.dtype() == DType::kBool) {
        t.data<bool>()[i] = u < 0.5;
      } else {
        return Unimplemented("no random values of dtype ", Name(t.dtype()));
      }
    }
    feeds[n.name] = std::move(t);
  }
  return absl::OkStatus();
}

}  // namespace tenon::testing

#endif  // TENON_TESTS_SUPPORT_INTERPRETER_H_
