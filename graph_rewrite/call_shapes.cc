#include "graph_rewrite/call_shapes.h"

#include <functional>
#include <utility>

#include "env/containers.h"
#include "graph/constants.h"
#include "graph/functions.h"
#include "ops/control/branch.h"
#include "ops/evaluate.h"

namespace tenon {
namespace {

// Most loops settle in two rounds.
constexpr int kRounds = 8;
// The most nodes to visit for a graph's arguments: nested loops multiply their rounds.
constexpr int64_t kBudget = 1'000'000;
// How deeply calls may be nested; a function that calls itself is.
constexpr int kDeepest = 32;

using Specs = std::vector<TensorSpec>;

Specs UnknownResults(const OpInfo& op, const Node& node) {
  Specs specs;
  if (auto dtypes = OutputDTypes(op, node); dtypes.ok()) {
    for (DType d : *dtypes) specs.push_back({d, Shape::Unknown(), nullptr});
  }
  return specs;
}

// Makes `shapes` hold for `specs` as well. Returns whether that changed them.
bool Generalize(absl::Span<const TensorSpec> specs, std::vector<Shape>& shapes) {
  bool changed = false;
  for (size_t i = 0; i < shapes.size(); ++i) {
    Shape common = i < specs.size() ? CommonShape(shapes[i], specs[i].shape) : Shape::Unknown();
    if (common == shapes[i]) continue;
    shapes[i] = std::move(common);
    changed = true;
  }
  return changed;
}

std::vector<Shape> ShapesOf(absl::Span<const TensorSpec> specs) {
  std::vector<Shape> shapes;
  for (const TensorSpec& s : specs) shapes.push_back(s.shape);
  return shapes;
}

class Inference {
 public:
  explicit Inference(int64_t& budget) : budget_(budget) {}

  // What a node passes to a function of the library.
  using OnCall = std::function<void(const FunctionLibrary& library, const std::string& function,
                                    absl::Span<const Shape> shapes)>;

  // The results of a graph whose inputs have the given shapes; empty: the shapes that its
  // Placeholders state. Unknown dtypes and shapes where an op cannot say. `outer`: the library that
  // has the graph, whose functions it calls if it has no library of its own.
  Specs Graph(const tenon::Graph& graph, const FunctionLibrary& outer,
              absl::Span<const Shape> arguments, const OnCall& on_call) {
    const FunctionLibrary& functions = LibraryOf(graph, outer);
    HashMap<NodeId, Shape> given;
    for (size_t i = 0; i < arguments.size() && i < graph.inputs().size(); ++i) {
      given[graph.inputs()[i].node] = arguments[i];
    }
    std::vector<Specs> known(static_cast<size_t>(graph.end_id()));
    const auto at = [&](Endpoint e) {
      const Specs& specs = known[static_cast<size_t>(e.node)];
      return static_cast<size_t>(e.port) < specs.size() ? specs[static_cast<size_t>(e.port)]
                                                        : TensorSpec();
    };
    const auto order = graph.TopologicalOrder();
    if (!order.ok()) return Specs(graph.outputs().size());
    for (NodeId id : *order) {
      const Node& n = graph.node(id);
      if (--budget_ <= 0) break;
      const OpLookup op = FindOp(n.op);
      if (!op) continue;
      Specs& results = known[static_cast<size_t>(id)];
      if (const Tensor* value = ConstantOf(n)) {
        results.push_back({value->dtype(), value->shape(), value});
        continue;
      }
      Specs inputs;
      for (const Endpoint& e : n.inputs) inputs.push_back(at(e));
      results = Results(functions, *op.info, n, inputs, on_call);
      if (const auto it = given.find(id); it != given.end() && !results.empty()) {
        const auto merged = MergeShapes(results[0].shape, it->second);
        if (merged.ok()) results[0].shape = *merged;
      }
    }
    Specs outputs;
    for (const GraphOutput& o : graph.outputs()) outputs.push_back(at(o.source));
    return outputs;
  }

  Specs Call(const FunctionLibrary& functions, const OpInfo& op, const Node& n,
             absl::Span<const TensorSpec> inputs, const OnCall& on_call) {
    if (depth_ == kDeepest) budget_ = 0;
    if (budget_ <= 0) return UnknownResults(op, n);
    ++depth_;
    Specs results = Called(functions, op, n, inputs, on_call);
    --depth_;
    return results;
  }

  bool exhausted() const { return budget_ <= 0; }

 private:
  static const tenon::Graph* Find(const FunctionLibrary& functions, const FuncRef* function) {
    const auto it = function == nullptr ? functions.end() : functions.find(function->name);
    return it == functions.end() ? nullptr : it->second.get();
  }

  // The results of a function. Tells of the call, and of the calls in the function; nothing if
  // there is no such function.
  Specs Enter(const FunctionLibrary& functions, const FuncRef& function,
              absl::Span<const Shape> arguments, const OnCall& on_call) {
    if (on_call) on_call(functions, function.name, arguments);
    const tenon::Graph* const graph = Find(functions, &function);
    return graph == nullptr ? Specs() : Graph(*graph, functions, arguments, on_call);
  }

  Specs Called(const FunctionLibrary& functions, const OpInfo& op, const Node& n,
               absl::Span<const TensorSpec> inputs, const OnCall& on_call) {
    Specs results = UnknownResults(op, n);
    const bool loop = op.row.control_flow == ControlFlow::kWhile;
    if (!loop && inputs.empty()) return results;
    std::vector<Shape> arguments = ShapesOf(loop ? inputs : inputs.subspan(1));
    std::vector<Shape> shapes;
    if (loop) {
      const auto* cond = n.attr<FuncRef>("cond");
      const auto* body = n.attr<FuncRef>("body");
      const tenon::Graph* graph = Find(functions, body);
      if (graph == nullptr || cond == nullptr) return results;
      int round = 0;
      while (Generalize(Graph(*graph, functions, arguments, nullptr), arguments)) {
        if (++round == kRounds) arguments.assign(arguments.size(), Shape::Unknown());
      }
      if (on_call) {
        Enter(functions, *cond, arguments, on_call);
        Enter(functions, *body, arguments, on_call);
      }
      shapes = std::move(arguments);
    } else {
      bool first = true;
      for (const FuncRef* branch : BranchesOf(n)) {
        if (Find(functions, branch) == nullptr) return results;
        const Specs given = Enter(functions, *branch, arguments, on_call);
        if (first) shapes = ShapesOf(given);
        if (!first) Generalize(given, shapes);
        first = false;
      }
    }
    for (size_t i = 0; i < results.size() && i < shapes.size(); ++i) results[i].shape = shapes[i];
    return budget_ <= 0 ? UnknownResults(op, n) : results;
  }

  Specs Results(const FunctionLibrary& functions, const OpInfo& op, const Node& n,
                absl::Span<const TensorSpec> inputs, const OnCall& on_call) {
    if (op.row.control_flow != ControlFlow::kNone) return Call(functions, op, n, inputs, on_call);
    auto results = InferOutputs(op, n, inputs);
    return results.ok() ? *std::move(results) : UnknownResults(op, n);
  }

  int64_t& budget_;
  int depth_ = 0;
};

// Adds the functions that the graph's nodes name other than as what control flow calls.
void AddNamedOtherwise(const Graph& graph, HashSet<std::string>& names) {
  for (NodeId id : graph.NodeIds()) {
    const OpLookup op = FindOp(graph.node(id).op);
    if (op && op.info->row.control_flow != ControlFlow::kNone) continue;
    ForEachNamedFunction(graph.node(id), [&](const FuncRef& f) { names.insert(f.name); });
  }
}

}  // namespace

Shape CommonShape(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank()) return Shape::Unknown();
  Shape common = a;
  for (int d = 0; d < a.rank(); ++d) {
    if (a.dim(d) != b.dim(d)) common.set_dim(d, -1);
  }
  return common;
}

std::vector<TensorSpec> InferCall(const FunctionLibrary& functions, const OpInfo& op,
                                  const Node& node, absl::Span<const TensorSpec> inputs,
                                  int64_t& budget) {
  return Inference(budget).Call(functions, op, node, inputs, nullptr);
}

ArgumentShapes InferArguments(const Graph& graph) {
  ArgumentShapes found;
  HashSet<std::string> elsewhere;
  AddNamedOtherwise(graph, elsewhere);
  for (const auto& [name, body] : graph.functions()) AddNamedOtherwise(*body, elsewhere);
  int64_t budget = kBudget;
  Inference inference(budget);
  inference.Graph(graph, graph.functions(), {},
                  [&](const FunctionLibrary& library, const std::string& function,
                      absl::Span<const Shape> shapes) {
                    if (&library != &graph.functions() || elsewhere.contains(function)) return;
                    const auto [it, added] =
                        found.try_emplace(function, shapes.begin(), shapes.end());
                    if (added) return;
                    for (size_t i = 0; i < it->second.size() && i < shapes.size(); ++i) {
                      it->second[i] = CommonShape(it->second[i], shapes[i]);
                    }
                  });
  if (inference.exhausted()) found.clear();
  return found;
}

}  // namespace tenon
