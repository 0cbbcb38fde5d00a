// Functions: inlined calls, bodies of control-flow ops, captured variables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "kernels/state/variable.h"
#include "load_testing.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kX[] =
    "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }\n";

// A call of `function` on `inputs` (text), as node `name`.
std::string Call(const std::string& name, const std::string& function, const std::string& inputs,
                 const std::string& more = "") {
  return absl::StrCat("node { name: '", name, "' op: 'PartitionedCall' ", inputs,
                      " attr { key: 'f' value { func { name: '", function, "' ", more,
                      " } } } attr { key: 'Tin' value { list { type: DT_FLOAT } } } attr { key: "
                      "'Tout' value { list { type: DT_FLOAT } } } }\n");
}

std::string Unary(const std::string& key, const std::string& name, const std::string& op,
                  const std::string& input, const std::string& type = "type: DT_FLOAT") {
  return absl::StrCat(key, " { name: '", name, "' op: '", op, "' input: '", input,
                      "' attr { key: 'T' value { ", type, " } } }\n");
}

std::string Function(const std::string& name, const std::string& body, const std::string& returns) {
  return absl::StrCat("function { signature { name: '", name,
                      "' input_arg { name: 'a' type: DT_FLOAT } output_arg { name: 'r' type: "
                      "DT_FLOAT } }\n",
                      body, " ret { key: 'r' value: '", returns, "' } }\n");
}

std::string Library(const std::string& functions) {
  return absl::StrCat("library { ", functions, " }\n");
}

std::string InnerCall(const std::string& name, const std::string& function) {
  std::string text = Call(name, function, "input: 'a'");
  return "node_def" + text.substr(4);
}

absl::StatusOr<Model> Fetch(const std::string& graph, const std::string& tensor) {
  LoadOptions options = Lenient();
  options.fetches = {tensor};
  return LoadText(graph, options);
}

std::string ErrorOf(const std::string& graph, const std::string& tensor) {
  const auto model = Fetch(graph, tensor);
  return model.ok() ? "loaded" : std::string(model.status().message());
}

TEST(Functions, CallsAreInlinedRecursively) {
  const std::string graph = absl::StrCat(
      kX, Call("c", "outer", "input: 'x'"), Unary("node", "y", "Relu", "c"),
      Library(Function("inner", Unary("node_def", "n", "Neg", "a"), "n:y:0") +
              Function("outer",
                       InnerCall("i", "inner") + Unary("node_def", "e", "Exp", "i:output:0"),
                       "e:y:0")));
  const auto model = Fetch(graph, "y");
  ASSERT_TRUE(model.ok()) << model.status();
  const Graph& g = model->graph;
  const Node* e = g.FindNode("c/e");
  const Node* n = g.FindNode("c/i/n");
  ASSERT_TRUE(e != nullptr && n != nullptr);
  EXPECT_EQ(g.FindNode("y")->inputs[0], (Endpoint{e->id, 0}));
  EXPECT_EQ(e->inputs[0], (Endpoint{n->id, 0}));
  EXPECT_EQ(n->inputs[0], (Endpoint{g.FindNode("x")->id, 0}));
  EXPECT_EQ(g.num_nodes(), 4u);
}

TEST(Functions, DirectCallsAndPolymorphicAttributes) {
  const std::string graph = absl::StrCat(
      kX, "node { name: 'c' op: 'Poly' input: 'x' attr { key: 'T' value { type: DT_FLOAT } } }\n",
      "library { function { signature { name: 'Poly' input_arg { name: 'a' type_attr: 'T' } "
      "output_arg { name: 'r' type_attr: 'T' } attr { name: 'T' type: 'type' } }\n",
      Unary("node_def", "n", "Neg", "a", "placeholder: 'T'"),
      " ret { key: 'r' value: 'n:y:0' } } }\n");
  const auto model = Fetch(graph, "c");
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(*model->graph.FindNode("c/n")->attr<DType>("T"), DType::kFloat);
}

TEST(Functions, ControlEdgesFollowSideEffects) {
  const std::string graph = absl::StrCat(
      kX, Call("c", "f", "input: 'x'"),
      "node { name: 'y' op: 'Relu' input: 'x' input: '^c' attr { key: 'T' value { type: DT_FLOAT "
      "} } }\n",
      "library { function { signature { name: 'f' input_arg { name: 'a' type: DT_FLOAT } "
      "output_arg { name: 'r' type: DT_FLOAT } control_output: 'e' }\n",
      "node_def { name: 'shout' op: 'Shout' input: 'a' }\n", Unary("node_def", "pure", "Neg", "a"),
      "node_def { name: 'all' op: 'NoOp' input: '^shout' input: '^pure' }\n",
      "ret { key: 'r' value: 'pure:y:0' } control_ret { key: 'e' value: 'all' } } }\n");
  const auto model = Fetch(graph, "y");
  ASSERT_TRUE(model.ok()) << model.status();
  const Graph& g = model->graph;
  ASSERT_NE(g.FindNode("c/shout"), nullptr);
  EXPECT_EQ(g.FindNode("c/pure"), nullptr);  // nobody needs it
  EXPECT_THAT(g.FindNode("y")->control_inputs, ElementsAre(g.FindNode("c/shout")->id));
}

// A function that says what it implements, for which device ("": any), and perhaps that it keeps
// results for a gradient.
std::string Implementation(const std::string& name, const std::string& op,
                           const std::string& device, const std::string& more = "") {
  std::string text = Function(name, Unary("node_def", "n", op, "a"), "n:y:0");
  const auto attr = [](const std::string& key, const std::string& value) {
    return absl::StrCat(" attr { key: '", key, "' value { s: '", value, "' } }");
  };
  return absl::StrCat(text.substr(0, text.rfind('}')), attr("api_implements", "it"),
                      attr("api_preferred_device", device), more, " }\n");
}

TEST(Functions, OfSeveralImplementationsTheOneForCpusIsCalled) {
  const auto op_called = [](const std::string& functions) {
    const auto model =
        Fetch(absl::StrCat(kX, Call("c", "any", "input: 'x'"), Library(functions)), "c:0");
    EXPECT_TRUE(model.ok()) << model.status();
    return model.ok() ? model->graph.FindNode("c/n")->op : "";
  };
  const std::string any = Implementation("any", "Neg", "");
  const std::string cpu = Implementation("cpu", "Exp", "CPU");
  const std::string gpu = Implementation("gpu", "Abs", "GPU");
  const std::string forward = Implementation(
      "forward", "Sqrt", "CPU", " attr { key: 'backward_function_name' value { s: 'back' } }");
  EXPECT_EQ(op_called(any + gpu + cpu), "Exp");
  EXPECT_EQ(op_called(forward + cpu + any), "Exp");
  EXPECT_EQ(op_called(any + gpu), "Neg") << "there is none for CPUs";
  EXPECT_EQ(op_called(any + forward), "Neg") << "another kind of function";
  const std::string wide = absl::StrReplaceAll(cpu, {{"input_arg { name: 'a' type: DT_FLOAT }",
                                                      "input_arg { name: 'a' type: DT_FLOAT } "
                                                      "input_arg { name: 'b' type: DT_FLOAT }"}});
  EXPECT_EQ(op_called(any + wide), "Neg") << "another signature";
}

std::string Gradient(const std::string& library) {
  return absl::StrCat(
      kX,
      "node { name: 'g' op: 'SymbolicGradient' input: 'x' attr { key: 'f' value { func { name: 'f' "
      "} } } attr { key: 'Tin' value { list { type: DT_FLOAT } } } attr { key: 'Tout' value { list "
      "{ type: DT_FLOAT } } } }\n",
      Library(Function("f", Unary("node_def", "n", "Neg", "a"), "n:y:0") +
              Function("df", Unary("node_def", "e", "Exp", "a"), "e:y:0") + library));
}

TEST(Functions, GradientsThatTheModelStates) {
  const auto model = Fetch(Gradient(" gradient { function_name: 'f' gradient_func: 'df' }"), "g");
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_NE(model->graph.FindNode("g/e"), nullptr);
  EXPECT_THAT(ErrorOf(Gradient(""), "g"), HasSubstr("the model has no gradient of function 'f'"));
}

std::string Map(const std::string& arguments, const std::string& shapes) {
  return absl::StrCat(
      kX,
      "node { name: 'm' op: 'MapDefun' input: 'x' attr { key: 'f' value { func { name: 'f' } } } ",
      "attr { key: 'Targuments' value { list { ", arguments,
      " } } } attr { key: 'Tcaptured' value { list { } } } attr { key: 'output_types' value { list "
      "{ "
      "type: DT_FLOAT } } } attr { key: 'output_shapes' value { list { ",
      shapes, " } } } }\n", Library(Function("f", Unary("node_def", "n", "Neg", "a"), "n:y:0")));
}

TEST(Functions, MapDefunIsALoop) {
  const auto model = Fetch(Map("type: DT_FLOAT", "shape { unknown_rank: true }"), "m");
  ASSERT_TRUE(model.ok()) << model.status();
  const Node* loop = model->graph.FindNode("m/loop");
  ASSERT_NE(loop, nullptr);
  EXPECT_THAT(loop->op, HasSubstr("While"));
  EXPECT_THAT(ErrorOf(Map("type: DT_FLOAT", "shape { } shape { }"), "m"),
              HasSubstr("1 outputs of 2 shapes"));
  EXPECT_THAT(ErrorOf(Map("type: DT_FLOAT", "shape { dim { size: 9223372036854775807 } }"), "m"),
              HasSubstr("an output of shape"));
  EXPECT_NE(ErrorOf(Map("", "shape { }"), "m"), "loaded");
}

TEST(Functions, Errors) {
  EXPECT_THAT(ErrorOf(absl::StrCat(kX, Call("c", "gone", "input: 'x'")), "c"),
              HasSubstr("node 'c' (PartitionedCall): calls function 'gone', which the model"));
  const std::string self = absl::StrCat(kX, Call("c", "f", "input: 'x'"),
                                        Library(Function("f", InnerCall("i", "f"), "i:output:0")));
  EXPECT_THAT(ErrorOf(self, "c"),
              HasSubstr("node 'c/i' (PartitionedCall): function 'f' calls itself"));
  const std::string neg = Library(Function("f", Unary("node_def", "n", "Neg", "a"), "n:y:0"));
  EXPECT_THAT(ErrorOf(absl::StrCat(kX, Call("c", "f", ""), neg), "c"), HasSubstr("too few"));
  EXPECT_THAT(ErrorOf(absl::StrCat(kX, Call("c", "f", "input: 'x' input: 'x'"), neg), "c"),
              HasSubstr("gives 2 inputs; function 'f' takes 1"));
  EXPECT_THAT(ErrorOf(absl::StrCat(kX, Call("c", "f", "input: 'x'"), neg), "c:1"),
              HasSubstr("node 'c' (PartitionedCall) has no output 1"));
  EXPECT_THAT(
      ErrorOf(absl::StrCat(kX, Call("c", "f", "input: 'x'"),
                           Library(Function("f", Unary("node_def", "n", "Neg", "a"), "m:y:0"))),
              "c"),
      HasSubstr("there is no node 'm'"));
  EXPECT_THAT(
      ErrorOf(absl::StrCat(kX, Call("c", "f", "input: 'x'"),
                           Library(Function("f", Unary("node_def", "n", "Neg", "a"), "n:zz:0"))),
              "c"),
      HasSubstr("node 'c/n' (Neg) has no output 'zz:0'"));
}

// Calls that double at each level would make 2^40 nodes.
TEST(Functions, ExplosionIsRefused) {
  std::string functions;
  for (int i = 0; i < 40; ++i) {
    const std::string next = absl::StrCat("f", i + 1);
    std::string second = InnerCall("j", next);
    second.replace(second.find("'a'"), 3, "'i:output:0'");
    functions += Function(absl::StrCat("f", i), InnerCall("i", next) + second, "j:output:0");
  }
  functions += Function("f40", Unary("node_def", "n", "Neg", "a"), "n:y:0");
  EXPECT_THAT(ErrorOf(absl::StrCat(kX, Call("c", "f0", "input: 'x'"), Library(functions)), "c"),
              HasSubstr("with its functions inlined"));
}

TEST(ControlFlow, BodiesHoldTheVariablesTheyCapture) {
  const auto model = LoadModel(DataPath("control_flow"), Lenient());
  ASSERT_TRUE(model.ok()) << model.status();
  const Graph& g = model->graph;
  EXPECT_THAT(OutputNames(g), ElementsAre("small", "words", "y", "z"));
  EXPECT_EQ(g.functions().size(), 6u);  // condition and body; two branches; two cases

  const Node* loop = nullptr;
  for (NodeId id : g.NodeIds()) {
    if (g.node(id).op == "StatelessWhile") loop = &g.node(id);
    for (const Endpoint& e : g.node(id).inputs) EXPECT_NE(g.node(e.node).op, "VarHandleOp");
  }
  ASSERT_NE(loop, nullptr);
  const size_t variables = loop->inputs.size();
  EXPECT_EQ(loop->attr<std::vector<DType>>("T")->size(), variables);
  const Graph& body = *g.functions().at(loop->attr<FuncRef>("body")->name);
  const Graph& cond = *g.functions().at(loop->attr<FuncRef>("cond")->name);
  EXPECT_EQ(body.inputs().size(), variables);
  EXPECT_EQ(body.outputs().size(), variables);
  EXPECT_EQ(cond.inputs().size(), variables);
  EXPECT_EQ(cond.outputs().size(), 1u);
  const Node* kernel = body.FindNode("kernel");
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->op, "Const");
  EXPECT_EQ(kernel->attr<Tensor>("value")->shape(), Shape({3, 2}));
  EXPECT_EQ(kernel->attr<Tensor>("value")->data<float>()[5], 5);
}

TEST(ControlFlow, VariablesOfOtherDTypes) {
  const auto model = LoadModel(DataPath("control_flow"), Lenient());
  ASSERT_TRUE(model.ok()) << model.status();
  const Node* words = model->graph.FindNode("words");
  ASSERT_NE(words, nullptr);
  const Tensor* value = words->attr<Tensor>("value");
  ASSERT_NE(value, nullptr);
  EXPECT_THAT(value->flat<std::string>(), ElementsAre("abc", "", std::string(300, 'x')));
  const Tensor* small = model->graph.FindNode("small")->attr<Tensor>("value");
  ASSERT_NE(small, nullptr);
  EXPECT_THAT(small->flat<int8_t>(), ElementsAre(3, -4));
}

TEST(ControlFlow, ChangedVariablesStayVariables) {
  LoadOptions options = Lenient();
  options.signature = "update";
  const auto model = LoadModel(DataPath("control_flow"), options);
  ASSERT_TRUE(model.ok()) << model.status();
  const Graph& graph = model->graph;
  int changes = 0;
  for (NodeId id : graph.NodeIds()) {
    const Node& n = graph.node(id);
    if (n.op != "AssignAddVariableOp") continue;
    ++changes;
    const Node& handle = graph.node(n.inputs[0].node);
    EXPECT_EQ(handle.op, "VarHandleOp");
    EXPECT_NE(handle.attr<Tensor>(kInitialValueAttr), nullptr);
    EXPECT_THAT(graph.targets(), ElementsAre(id));
  }
  EXPECT_EQ(changes, 1);
}

}  // namespace
}  // namespace tenon
