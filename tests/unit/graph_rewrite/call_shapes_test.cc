#include "graph_rewrite/call_shapes.h"

#include "gmock/gmock.h"
#include "graph/text.h"
#include "gtest/gtest.h"
#include "tests/support/interpreter.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;

Graph Parse(absl::string_view text) {
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  if (!graph.ok()) return Graph();
  EXPECT_TRUE(testing::CompleteGraph(*graph).ok());
  return *std::move(graph);
}

// The shapes of the results of node `name`, whose inputs are Placeholders.
std::vector<std::string> ResultsOf(const Graph& graph, absl::string_view name,
                                   int64_t budget = 1000) {
  const Node& n = *graph.FindNode(name);
  std::vector<TensorSpec> inputs;
  for (const Endpoint& e : n.inputs) {
    const Node& from = graph.node(e.node);
    inputs.push_back({*from.attr<DType>("dtype"), *from.attr<Shape>("shape"), nullptr});
  }
  std::vector<std::string> shapes;
  for (const TensorSpec& s : InferCall(graph.functions(), *FindOp(n.op).info, n, inputs, budget)) {
    shapes.push_back(s.shape.ToString());
  }
  return shapes;
}

std::vector<std::string> ArgumentsOf(const Graph& graph, const std::string& function) {
  const ArgumentShapes all = InferArguments(graph);
  const auto it = all.find(function);
  std::vector<std::string> shapes;
  if (it == all.end()) return {"none"};
  for (const Shape& s : it->second) shapes.push_back(s.ToString());
  return shapes;
}

constexpr char kLoop[] = R"(
  %i = Placeholder() {dtype=int32, shape=<>}
  %x = Placeholder() {shape=<2,4>}
  %grows = Placeholder() {shape=<1,4>}
  %loop = While(%i, %x, %grows) {T=[int32, float, float], cond=@cond, body=@body}
  out x = %loop:1
  function "cond" {
    in i = %i  %i = Placeholder() {dtype=int32}
    in x = %x  %x = Placeholder()
    in g = %g  %g = Placeholder()
    %n = Const() {value=int32<>{3}}
    %more = Less(%i, %n)
    out more = %more
  }
  function "body" {
    in i = %i  %i = Placeholder() {dtype=int32}
    in x = %x  %x = Placeholder()
    in g = %g  %g = Placeholder()
    %one = Const() {value=int32<>{1}}
    %next = AddV2(%i, %one)
    %y = Relu(%x)
    %axis = Const() {value=int32<>{0}}
    %longer = ConcatV2(%g, %y, %axis)
    out i = %next
    out x = %y
    out g = %longer
  })";

TEST(CallShapes, LoopsKeepWhatHoldsInEveryIteration) {
  const Graph graph = Parse(kLoop);
  EXPECT_THAT(ResultsOf(graph, "loop"), ElementsAre("[]", "[2,4]", "[?,4]"));
  EXPECT_THAT(ArgumentsOf(graph, "body"), ElementsAre("[]", "[2,4]", "[?,4]"));
  EXPECT_THAT(ArgumentsOf(graph, "cond"), ElementsAre("[]", "[2,4]", "[?,4]"));
}

constexpr char kBranches[] = R"(
  %c = Placeholder() {dtype=bool, shape=<>}
  %x = Placeholder() {shape=<2,4>}
  %z = Placeholder() {shape=<3,4>}
  %a = StatelessIf(%c, %x) {Tcond=bool, Tin=[float], Tout=[float], then_branch=@keep, else_branch=@sum}
  %b = StatelessIf(%c, %z) {Tcond=bool, Tin=[float], Tout=[float], then_branch=@keep, else_branch=@keep}
  out a = %a
  out b = %b
  function "keep" {
    in x = %x  %x = Placeholder()
    %y = Relu(%x)
    out y = %y
  }
  function "sum" {
    in x = %x  %x = Placeholder()
    %axis = Const() {value=int32<1>{0}}
    %y = Sum(%x, %axis) {keep_dims=true}
    out y = %y
  })";

TEST(CallShapes, BranchesGiveWhatTheyHaveInCommon) {
  const Graph graph = Parse(kBranches);
  EXPECT_THAT(ResultsOf(graph, "a"), ElementsAre("[?,4]"));
  EXPECT_THAT(ResultsOf(graph, "b"), ElementsAre("[3,4]"));
}

TEST(CallShapes, ArgumentsHoldForEveryCall) {
  const Graph graph = Parse(kBranches);
  EXPECT_THAT(ArgumentsOf(graph, "keep"), ElementsAre("[?,4]"));
  EXPECT_THAT(ArgumentsOf(graph, "sum"), ElementsAre("[2,4]"));
}

// Its results are functions of scalars and of vectors.
TEST(CallShapes, FunctionsOfElementsAreLeftOut) {
  const Graph graph = Parse(R"(
    %x = Placeholder() {shape=<2,4>}
    %zero = Placeholder() {shape=<>}
    %sum = XlaReduce(%x, %zero) {dimensions_to_reduce=[0], reducer=@add}
    out y = %sum
    function "add" {
      in x = %x  %x = Placeholder()
      in y = %y  %y = Placeholder()
      %s = AddV2(%x, %y)
      out s = %s
    })");
  EXPECT_THAT(ArgumentsOf(graph, "add"), ElementsAre("none"));
}

TEST(CallShapes, CallsInFunctionsCount) {
  const Graph graph = Parse(R"(
    %c = Placeholder() {dtype=bool, shape=<>}
    %x = Placeholder() {shape=<2,4>}
    %a = StatelessIf(%c, %x) {Tcond=bool, Tin=[float], Tout=[float], then_branch=@keep, else_branch=@outer}
    out a = %a
    function "keep" {
      in x = %x  %x = Placeholder()
      %y = Relu(%x)
      out y = %y
    }
    function "outer" {
      in x = %x  %x = Placeholder()
      %true = Const() {value=bool<>{true}}
      %axis = Const() {value=int32<1>{0}}
      %sum = Sum(%x, %axis)
      %y = StatelessIf(%true, %sum) {Tcond=bool, Tin=[float], Tout=[float], then_branch=@keep, else_branch=@keep}
      out y = %y
    })");
  EXPECT_THAT(ArgumentsOf(graph, "outer"), ElementsAre("[2,4]"));
  EXPECT_THAT(ArgumentsOf(graph, "keep"), ElementsAre("?"));  // [2,4] and [4]
}

TEST(CallShapes, NothingIsKnownWhenTheBudgetIsSpent) {
  const Graph graph = Parse(kLoop);
  EXPECT_THAT(ResultsOf(graph, "loop", 10), ElementsAre("?", "?", "?"));
}

TEST(CallShapes, MissingFunctionsGiveUnknownShapes) {
  Graph graph = Parse(kLoop);
  graph.TakeFunctions();
  EXPECT_THAT(ResultsOf(graph, "loop"), ElementsAre("?", "?", "?"));
}

}  // namespace
}  // namespace tenon
