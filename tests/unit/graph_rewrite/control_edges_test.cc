// Tests that rewriting keeps control edges. In every graph of tests/rewrite, each node in turn gets
// a control edge from a node with a side effect, or to one; a result that waited for the effect
// before rewriting must wait for it afterwards.
#include <algorithm>

#include "env/flags.h"
#include "graph/text.h"
#include "graph_rewrite/pipeline.h"
#include "gtest/gtest.h"
#include "tests/support/interpreter.h"
#include "tests/unit/graph_rewrite/data_cases.h"

namespace tenon {
namespace {

constexpr char kEffect[] = "an_effect", kWaiter[] = "a_waiter";

// Whether a result depends on the tensor's elements. Shapes and axes, which rules may compute
// differently, are integers.
bool CountsElements(ShapeInfo& shapes, Endpoint e) {
  const DType dtype = shapes.dtype(e);
  return IsFloating(dtype) || dtype == DType::kQint8 || dtype == DType::kQuint8;
}

// For each node whether it reads the elements of `from`'s results, directly or not.
std::vector<bool> Readers(Rewriter& rw, const Services& services, NodeId from) {
  ShapeInfo shapes(rw, services);
  std::vector<bool> reads(static_cast<size_t>(rw.graph().end_id()), false);
  reads[static_cast<size_t>(from)] = true;
  const std::vector<NodeId> order = *rw.graph().TopologicalOrder();
  for (NodeId id : order) {
    for (const Endpoint& e : rw.node(id).inputs) {
      if (reads[static_cast<size_t>(e.node)] && CountsElements(shapes, e)) {
        reads[static_cast<size_t>(id)] = true;
      }
    }
  }
  return reads;
}

// A random number: an op with a side effect and no data inputs.
NodeId AddEffect(Rewriter& rw, const char* name) {
  Node shape;
  shape.name = std::string(name) + "/shape";
  shape.op = "Const";
  shape.attrs["dtype"] = DType::kInt32;
  shape.attrs["value"] = Tensor::Vector<int32_t>({1});
  Node effect;
  effect.name = name;
  effect.op = "RandomUniform";
  effect.inputs = {{rw.AddNode(std::move(shape)), 0}};
  effect.attrs["dtype"] = DType::kFloat;
  effect.attrs["T"] = DType::kInt32;
  return rw.AddNode(std::move(effect));
}

bool DependsOnEffect(Graph& graph, NodeId id) {
  return Rewriter(graph).DependsOn(id, graph.FindNode(kEffect)->id);
}

class ControlEdges : public ::testing::TestWithParam<RewriteCase> {
 protected:
  void SetUp() override {
    auto parsed = ParseGraph(GetParam().graph);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    graph_ = *std::move(parsed);
    ASSERT_TRUE(testing::CompleteGraph(graph_).ok());
    for (NodeId id : graph_.NodeIds()) {
      const std::string& op = graph_.node(id).op;
      if (op != "Const" && op != "Placeholder") nodes_.push_back(id);
    }
  }

  void RunRules(Graph& graph) {
    auto report = Rewrite(graph, {.services = &services_, .last = Phase::kFuse, .verify = true});
    ASSERT_TRUE(report.ok()) << report.status();
  }

  const Services services_{.flags = &GetParam().flags};
  Graph graph_;
  std::vector<NodeId> nodes_;  // nodes that rules may replace
};

TEST_P(ControlEdges, IntoANode) {
  for (NodeId id : nodes_) {
    Graph graph = graph_;
    Rewriter rw(graph);
    const std::vector<bool> reads = Readers(rw, services_, id);
    const NodeId effect = AddEffect(rw, kEffect);
    rw.SetControlInputs(id, {effect});
    graph.AddTarget(effect);
    const std::vector<GraphOutput> before(graph.outputs().begin(), graph.outputs().end());
    RunRules(graph);
    for (size_t i = 0; i < before.size(); ++i) {
      if (!reads[static_cast<size_t>(before[i].source.node)]) continue;
      EXPECT_TRUE(DependsOnEffect(graph, graph.outputs()[i].source.node))
          << "output " << before[i].name << " no longer waits for what '" << graph_.node(id).name
          << "' waits for:\n"
          << PrintGraph(graph, {.max_elements = 8});
    }
  }
}

TEST_P(ControlEdges, OutOfANode) {
  for (NodeId id : nodes_) {
    Graph graph = graph_;
    Rewriter rw(graph);
    // All inputs wait for the effect; otherwise a control edge after them would have no effect.
    const NodeId effect = AddEffect(rw, kEffect);
    bool waits = false;
    for (NodeId input : graph_.NodeIds()) {
      if (graph_.node(input).op != "Placeholder") continue;
      ShapeInfo shapes(rw, services_);
      waits = waits || (CountsElements(shapes, {id, 0}) &&
                        Readers(rw, services_, input)[static_cast<size_t>(id)]);
      Node copy;
      copy.name = graph_.node(input).name + "/later";
      copy.op = "Identity";
      copy.inputs = {{input, 0}};
      copy.control_inputs = {effect};
      copy.attrs["T"] = *graph_.node(input).attr<DType>("dtype");
      const NodeId later = rw.AddNode(std::move(copy));
      rw.ReplaceAllUses({input, 0}, {later, 0});
      rw.SetInput(later, 0, {input, 0});
    }
    if (!waits) continue;
    const NodeId waiter = AddEffect(rw, kWaiter);
    rw.SetControlInputs(waiter, {id});
    graph.AddTarget(waiter);
    RunRules(graph);
    EXPECT_TRUE(DependsOnEffect(graph, graph.FindNode(kWaiter)->id))
        << "nothing waits for '" << graph_.node(id).name << "' any more:\n"
        << PrintGraph(graph, {.max_elements = 8});
  }
}

INSTANTIATE_TEST_SUITE_P(, ControlEdges, ::testing::ValuesIn(LoadRewriteCases()), RewriteCaseName);

}  // namespace
}  // namespace tenon
