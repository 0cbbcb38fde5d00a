#include "proto/import/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "load_testing.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(LoadModel, KerasSavedModel) {
  const auto model = LoadModel(ModelPath("mlp/saved_model"), Lenient());
  ASSERT_TRUE(model.ok()) << model.status();
  const Graph& g = model->graph;
  EXPECT_EQ(model->format, "SavedModel");
  EXPECT_EQ(model->signature, "serving_default");
  EXPECT_THAT(model->signatures, ElementsAre("serve", "serving_default"));
  EXPECT_THAT(model->tags, ElementsAre("serve"));
  EXPECT_THAT(InputNames(g), ElementsAre("features"));
  EXPECT_THAT(OutputNames(g), ElementsAre("output_0"));
  const Node& input = g.node(g.inputs()[0].node);
  EXPECT_EQ(input.op, "Placeholder");
  EXPECT_EQ(*input.attr<Shape>("shape"), Shape({-1, 16}));
  EXPECT_EQ(CountOps(g, "MatMul"), 4);
  EXPECT_EQ(CountOps(g, "Const"), 8);  // four kernels, four biases, each once
  for (NodeId id : g.NodeIds()) EXPECT_TRUE(g.node(id).control_inputs.empty());
}

// Every model loads; no variable, call or control edge remains, and the graph is valid.
class EveryModel : public testing::TestWithParam<const char*> {};

TEST_P(EveryModel, Loads) {
  const auto model = LoadModel(ModelPath(GetParam()), Lenient());
  ASSERT_TRUE(model.ok()) << model.status();
  const Graph& g = model->graph;
  EXPECT_FALSE(g.inputs().empty());
  EXPECT_FALSE(g.outputs().empty());
  EXPECT_TRUE(g.TopologicalOrder().ok()) << g.TopologicalOrder().status();
  for (NodeId id : g.NodeIds()) {
    const Node& n = g.node(id);
    for (const char* op : {"VarHandleOp", "ReadVariableOp", "VariableV2", "NoOp", "PartitionedCall",
                           "StatefulPartitionedCall", "PlaceholderWithDefault"}) {
      EXPECT_NE(n.op, op) << n.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, EveryModel,
    testing::Values("mlp/saved_model", "resnet50/saved_model", "bert4/saved_model",
                    "densenet121/saved_model", "efficientnetb0/saved_model",
                    "inceptionv3/saved_model", "mobilenetv2/saved_model",
                    "loader/bert_additive_mask/saved_model",
                    "loader/module_two_signatures/saved_model", "loader/tf1_resource/saved_model",
                    "loader/tf1_three_shards/saved_model", "loader/tf1_variable_v2/saved_model",
                    "loader/frozen_mlp/graph.pb", "loader/frozen_mlp/graph.pbtxt",
                    "loader/frozen_resnet50/graph.pb", "loader/frozen_resnet50/graph.pbtxt"));

TEST(LoadModel, GraphDefBinaryAndTextAreTheSame) {
  const auto binary = LoadModel(ModelPath("loader/frozen_mlp/graph.pb"), Lenient());
  const auto text = LoadModel(ModelPath("loader/frozen_mlp/graph.pbtxt"), Lenient());
  ASSERT_TRUE(binary.ok()) << binary.status();
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(binary->format, "GraphDef");
  EXPECT_EQ(text->format, "GraphDef text");
  EXPECT_THAT(InputNames(text->graph), ElementsAre("features"));
  EXPECT_THAT(OutputNames(text->graph), ElementsAre("Identity:0"));
  ASSERT_EQ(binary->graph.num_nodes(), text->graph.num_nodes());
  for (NodeId id : binary->graph.NodeIds()) {
    const Node& a = binary->graph.node(id);
    const Node* b = text->graph.FindNode(a.name);
    ASSERT_NE(b, nullptr) << a.name;
    EXPECT_EQ(a.op, b->op);
    EXPECT_EQ(a.attrs, b->attrs) << a.name;
  }
}

// Variables in three data files, written by the TensorFlow 1 builder, equal those in one.
TEST(LoadModel, ShardsHoldTheSameValues) {
  const auto one = LoadModel(ModelPath("loader/tf1_variable_v2/saved_model"), Lenient());
  const auto three = LoadModel(ModelPath("loader/tf1_three_shards/saved_model"), Lenient());
  ASSERT_TRUE(one.ok()) << one.status();
  ASSERT_TRUE(three.ok()) << three.status();
  for (const char* name : {"kernel", "conv_bias", "gamma", "head/weights", "head/bias"}) {
    const Node* a = one->graph.FindNode(name);
    const Node* b = three->graph.FindNode(name);
    ASSERT_TRUE(a != nullptr && b != nullptr) << name;
    ASSERT_TRUE(a->attr<Tensor>("value") != nullptr && b->attr<Tensor>("value") != nullptr) << name;
    EXPECT_TRUE(Identical(*a->attr<Tensor>("value"), *b->attr<Tensor>("value"))) << name;
  }
}

TEST(LoadModel, OnlyTheSignaturesVariablesAreLoaded) {
  LoadOptions options = Lenient();
  options.signature = "lookup";
  const auto model = LoadModel(ModelPath("loader/module_two_signatures/saved_model"), options);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_THAT(InputNames(model->graph), ElementsAre("index", "offset"));
  EXPECT_THAT(OutputNames(model->graph), ElementsAre("rows"));
  std::vector<DType> dtypes;
  for (NodeId id : model->graph.NodeIds()) {
    const Tensor* value = model->graph.node(id).attr<Tensor>("value");
    if (value != nullptr) dtypes.push_back(value->dtype());
  }
  EXPECT_THAT(dtypes, testing::UnorderedElementsAre(DType::kInt64, DType::kDouble, DType::kInt32));
  EXPECT_EQ(CountOps(model->graph, "GatherV2"), 1);  // was a ResourceGather
}

TEST(LoadModel, FetchesAndFeeds) {
  LoadOptions options = Lenient();
  options.fetches = {"logits"};
  const auto one = LoadModel(ModelPath("loader/module_two_signatures/saved_model"), options);
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_THAT(OutputNames(one->graph), ElementsAre("logits"));
  EXPECT_EQ(CountOps(one->graph, "Softmax"), 0);

  const char* graph = R"(
    node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
    node { name: "y" op: "Relu" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
    node { name: "z" op: "Relu" input: "y" attr { key: "T" value { type: DT_FLOAT } } })";
  options.fetches = {"z:0"};
  options.feeds = {"y:0"};
  const auto fed = LoadText(graph, options);
  ASSERT_TRUE(fed.ok()) << fed.status();
  EXPECT_THAT(InputNames(fed->graph), ElementsAre("y:0"));
  EXPECT_THAT(OutputNames(fed->graph), ElementsAre("z:0"));
  EXPECT_EQ(fed->graph.num_nodes(), 2u);
  EXPECT_EQ(fed->graph.FindNode("y")->op, "Placeholder");
}

TEST(LoadModel, OtherNamesBecomeStandardOps) {
  const auto model = LoadText(R"(
    node { name: "x" op: "PlaceholderV2" attr { key: "dtype" value { type: DT_FLOAT } }
      attr { key: "shape" value { shape { dim { size: 1 } dim { size: 4 } dim { size: 4 }
        dim { size: 2 } } } } }
    node { name: "taps" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
    node { name: "twice" op: "AccumulateNV2" input: "x" input: "x"
      attr { key: "N" value { i: 2 } } attr { key: "T" value { type: DT_FLOAT } }
      attr { key: "shape" value { shape { unknown_rank: true } } } }
    node { name: "y" op: "Conv" input: "twice" input: "taps"
      attr { key: "T" value { type: DT_FLOAT } }
      attr { key: "strides" value { list { i: 1 i: 2 i: 1 i: 1 } } }
      attr { key: "padding" value { s: "SAME" } } })",
                              Lenient());
  ASSERT_TRUE(model.ok()) << model.status();
  const Graph& g = model->graph;
  EXPECT_THAT(InputNames(g), ElementsAre("x", "taps"));
  EXPECT_EQ(*g.FindNode("x")->attr<Shape>("shape"), Shape({1, 4, 4, 2}));
  EXPECT_EQ(CountOps(g, "AddN"), 1);
  ASSERT_EQ(CountOps(g, "Conv2D"), 1);
  EXPECT_EQ(*g.FindNode("y")->attr<std::string>("data_format"), "NHWC");
}

TEST(LoadModel, ASingleBoolWithADefaultIsConstantUnlessAskedFor) {
  const char* graph = R"(
    node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
    node { name: "no" op: "Const" attr { key: "dtype" value { type: DT_BOOL } }
      attr { key: "value" value { tensor { dtype: DT_BOOL tensor_shape {} bool_val: false } } } }
    node { name: "training" op: "PlaceholderWithDefault" input: "no"
      attr { key: "dtype" value { type: DT_BOOL } } attr { key: "shape" value { shape {} } } }
    node { name: "y" op: "SelectV2" input: "training" input: "x" input: "x"
      attr { key: "T" value { type: DT_FLOAT } } })";
  LoadOptions options = Lenient();
  const auto usual = LoadText(graph, options);
  ASSERT_TRUE(usual.ok()) << usual.status();
  EXPECT_THAT(InputNames(usual->graph), ElementsAre("x"));
  options.more_feeds = {"training"};
  const auto asked = LoadText(graph, options);
  ASSERT_TRUE(asked.ok()) << asked.status();
  EXPECT_THAT(InputNames(asked->graph), testing::UnorderedElementsAre("x", "training"));
  ASSERT_EQ(asked->interface.defaults.size(), 1u);
  EXPECT_EQ(asked->interface.defaults[0].first, "training");
}

TEST(LoadModel, ErrorsSayWhatThereIs) {
  auto error = [](const std::string& path, const LoadOptions& options) {
    const auto model = LoadModel(path, options);
    return std::string(model.ok() ? "loaded" : model.status().message());
  };
  const std::string two = ModelPath("loader/module_two_signatures/saved_model");
  LoadOptions options = Lenient();
  options.signature = "nope";
  EXPECT_THAT(error(two, options), HasSubstr("no signature 'nope'; there are: lookup, serving_"));
  options = Lenient();
  options.tags = {"train"};
  EXPECT_THAT(error(two, options), HasSubstr("no graph with tags {train}; there are: {serve}"));
  options = Lenient();
  options.fetches = {"nope:0"};
  EXPECT_THAT(error(two, options), HasSubstr("output 'nope:0': there is no node 'nope'"));
  EXPECT_THAT(error("/nowhere/model", {}), HasSubstr("/nowhere/model: no such file"));
  EXPECT_THAT(error(ModelPath(""), {}), HasSubstr("a directory without saved_model.pb"));
}

TEST(LoadModel, MissingOpsAreOneError) {
  const char* graph = R"(
    node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
    node { name: "a" op: "Zonk" input: "x" }
    node { name: "b" op: "Zonk" input: "a" }
    node { name: "c" op: "Plonk" input: "b:3" }
    node { name: "unneeded" op: "Plink" input: "x" })";
  LoadOptions options;
  options.fetches = {"c"};
  const auto model = LoadText(graph, options);
  EXPECT_EQ(model.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(model.status().message()),
              HasSubstr("op Plonk is not implemented: node c; op Zonk is not implemented: nodes "
                        "a, b"));
  options.allow_missing_ops = true;
  const auto lenient = LoadText(graph, options);
  ASSERT_TRUE(lenient.ok()) << lenient.status();
  EXPECT_THAT(lenient->missing_ops.at("Zonk"), ElementsAre("a", "b"));
}

}  // namespace
}  // namespace tenon
