#include "proto/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace tenon {
namespace {

using ::testing::ElementsAre;

std::string ModelPath(const std::string& name) {
  return std::string(TENON_SOURCE_DIR) + "/tests/models/" + name;
}

// Ops that are still missing are none of the loader's business.
LoadOptions Lenient() {
  LoadOptions options;
  options.allow_missing_ops = true;
  return options;
}

std::vector<std::string> InputNames(const Graph& graph) {
  std::vector<std::string> names;
  for (const GraphInput& input : graph.inputs()) names.push_back(input.name);
  return names;
}

std::vector<std::string> OutputNames(const Graph& graph) {
  std::vector<std::string> names;
  for (const GraphOutput& output : graph.outputs()) names.push_back(output.name);
  return names;
}

int CountOps(const Graph& graph, absl::string_view op) {
  int n = 0;
  for (NodeId id : graph.NodeIds()) n += graph.node(id).op == op;
  return n;
}

TEST(LoadModel, KerasSavedModel) {
  const auto model = LoadModel(ModelPath("mlp/saved_model"), Lenient());
  ASSERT_TRUE(model.ok()) << model.status();
  const Graph& g = model->graph;
  EXPECT_EQ(model->signature, "serving_default");
  EXPECT_THAT(model->tags, ElementsAre("serve"));
  EXPECT_THAT(InputNames(g), ElementsAre("features"));
  EXPECT_THAT(OutputNames(g), ElementsAre("output_0"));
  const Node& input = g.node(g.inputs()[0].node);
  EXPECT_EQ(input.op, "Placeholder");
  EXPECT_EQ(input.attr<Shape>("shape")->ToString(), "[?,16]");
  EXPECT_EQ(CountOps(g, "MatMul"), 4);
  EXPECT_EQ(CountOps(g, "Const"), 8);  // four kernels, four biases, each once
  for (NodeId id : g.NodeIds()) EXPECT_TRUE(g.node(id).control_inputs.empty());
}

TEST(LoadModel, GraphDefBinaryAndTextAreTheSame) {
  for (const char* file : {"graph.pb", "graph.pbtxt"}) {
    const auto model = LoadModel(ModelPath("loader/frozen_mlp/") + file, Lenient());
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_THAT(InputNames(model->graph), ElementsAre("features"));
    EXPECT_THAT(OutputNames(model->graph), ElementsAre("Identity:0"));
    EXPECT_EQ(CountOps(model->graph, "MatMul"), 4);
  }
}

}  // namespace
}  // namespace tenon
