#include "proto/export/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "kernels/state/variable.h"
#include "load_testing.h"

namespace tenon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

void ExpectSameNodes(const Graph& a, const Graph& b) {
  ASSERT_EQ(a.num_nodes(), b.num_nodes());
  for (NodeId id : a.NodeIds()) {
    const Node& n = a.node(id);
    const Node* m = b.FindNode(n.name);
    ASSERT_NE(m, nullptr) << n.name;
    EXPECT_EQ(n.op, m->op) << n.name;
    EXPECT_EQ(n.attrs, m->attrs) << n.name;
    ASSERT_EQ(n.inputs.size(), m->inputs.size()) << n.name;
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      EXPECT_EQ(EndpointName(a, n.inputs[i]), EndpointName(b, m->inputs[i])) << n.name;
    }
  }
}

class RoundTrip : public testing::TestWithParam<GraphFormat> {};

TEST_P(RoundTrip, FrozenModel) {
  const auto model = LoadModel(ModelPath("loader/tf1_three_shards/saved_model"), Lenient());
  ASSERT_TRUE(model.ok()) << model.status();
  const ScratchPath path("exported");
  const absl::Status status = ExportGraph(model->graph, path.str(), {.format = GetParam()});
  ASSERT_TRUE(status.ok()) << status;
  const auto again = LoadModel(path.str(), Lenient());
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->format, GetParam() == GraphFormat::kText ? "GraphDef text" : "GraphDef");
  EXPECT_THAT(OutputNames(again->graph), ElementsAre("logits:0"));
  ExpectSameNodes(model->graph, again->graph);
}

INSTANTIATE_TEST_SUITE_P(Formats, RoundTrip,
                         testing::Values(GraphFormat::kBinary, GraphFormat::kText));

TEST(Export, FunctionsComeBack) {
  const auto model = LoadModel(DataPath("control_flow"), Lenient());
  ASSERT_TRUE(model.ok()) << model.status();
  const ScratchPath path("functions.pb");
  const absl::Status status = ExportGraph(model->graph, path.str(), {});
  ASSERT_TRUE(status.ok()) << status;
  const auto again = LoadModel(path.str(), Lenient());
  ASSERT_TRUE(again.ok()) << again.status();
  ASSERT_EQ(again->graph.functions().size(), model->graph.functions().size());
  for (const auto& [name, body] : model->graph.functions()) {
    ASSERT_TRUE(again->graph.functions().contains(name)) << name;
    const Graph& other = *again->graph.functions().at(name);
    EXPECT_EQ(body->inputs().size(), other.inputs().size()) << name;
    EXPECT_EQ(body->outputs().size(), other.outputs().size()) << name;
    EXPECT_EQ(body->num_nodes(), other.num_nodes()) << name;
  }
}

Graph WithOp(const std::string& op) {
  Graph graph;
  Node node;
  node.name = "n";
  node.op = op;
  EXPECT_TRUE(graph.AddNode(std::move(node)).ok());
  return graph;
}

// A variable that the model changes has its value again, and the change still happens.
TEST(Export, SavedModelsKeepVariables) {
  LoadOptions options = Lenient();
  options.signature = "update";
  const auto model = LoadModel(DataPath("control_flow"), options);
  ASSERT_TRUE(model.ok()) << model.status();
  const ScratchPath folder("with_variables");
  const absl::Status status = ExportSavedModel(model->graph, folder.str());
  ASSERT_TRUE(status.ok()) << status;
  const auto again = LoadModel(folder.str(), Lenient());
  ASSERT_TRUE(again.ok()) << again.status();
  const auto values = [](const Graph& graph) {
    std::vector<Tensor> found;
    for (NodeId id : graph.NodeIds()) {
      if (const Tensor* t = graph.node(id).attr<Tensor>(kInitialValueAttr)) found.push_back(*t);
    }
    return found;
  };
  const std::vector<Tensor> before = values(model->graph), after = values(again->graph);
  ASSERT_FALSE(before.empty());
  ASSERT_EQ(before.size(), after.size());
  for (size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(Identical(before[i], after[i]));
  const std::vector<NodeId> ids = again->graph.NodeIds();
  EXPECT_EQ(
      std::count_if(ids.begin(), ids.end(),
                    [&](NodeId id) { return again->graph.node(id).op == "AssignAddVariableOp"; }),
      1);

  const absl::Status refused = ExportModel(model->graph, ScratchPath("variables.pb").str());
  EXPECT_THAT(refused.message(), HasSubstr("whose value a GraphDef cannot hold"));
}

TEST(Export, PrivateOpsAreRefused) {
  const ScratchPath path("private.pb");
  for (const char* op : {"_MklNativeConv2D", "_FusedElementwise"}) {
    const absl::Status status = ExportGraph(WithOp(op), path.str(), {});
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()), HasSubstr(op));
    EXPECT_FALSE(std::filesystem::exists(path.str()));
    EXPECT_TRUE(ExportGraph(WithOp(op), path.str(), {.allow_private = true}).ok());
    EXPECT_TRUE(std::filesystem::exists(path.str()));
    std::filesystem::remove(path.str());
  }
  Graph graph = WithOp("StatelessWhile");  // in a function it is private too
  graph.SetFunction("f", std::make_shared<const Graph>(WithOp("_MklNativeConv2D")));
  EXPECT_EQ(ExportGraph(graph, path.str(), {}).code(), absl::StatusCode::kFailedPrecondition);
}

TEST(Export, FailedWriteLeavesTheOldFile) {
  const ScratchPath folder("folder");
  EXPECT_FALSE(ExportGraph(WithOp("Relu"), folder.str() + "/graph.pb", {}).ok());
  std::filesystem::create_directory(folder.str());
  const std::string path = folder.str() + "/graph.pb";
  std::filesystem::create_directory(path);  // cannot be replaced by a file
  EXPECT_FALSE(ExportGraph(WithOp("Relu"), path, {}).ok());
  int entries = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder.str())) {
    ++entries;
    EXPECT_EQ(entry.path(), path);
  }
  EXPECT_EQ(entries, 1);  // no temporary file is left
}

TEST(Export, Text) {
  const auto text = GraphDefText(WithOp("Relu"), {});
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_THAT(*text, HasSubstr("op: \"Relu\""));
}

}  // namespace
}  // namespace tenon
