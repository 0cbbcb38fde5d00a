// Which loops of tests/models/recurrent become one op for the sequence, and why the others do not.
#include <string>
#include <vector>

#include "env/flags.h"
#include "gmock/gmock.h"
#include "graph_rewrite/explain.h"
#include "gtest/gtest.h"
#include "proto/import/model.h"
#include "tests/support/source_dir.h"

namespace tenon {
namespace {

using ::testing::HasSubstr;

struct LoopCase {
  const char* model;
  int fused = 0, kept = 0;
  const char* reason = "";                // for the kept ones
  std::vector<std::string> fetches = {};  // instead of the outputs
};

void PrintTo(const LoopCase& c, std::ostream* out) { *out << c.model; }

class RecurrentModels : public ::testing::TestWithParam<LoopCase> {};

TEST_P(RecurrentModels, AreFusedOrSayWhyNot) {
  const LoopCase& c = GetParam();
  LoadOptions load;
  load.fetches = c.fetches;
  const auto model = LoadModel(SourcePath(std::string("tests/models/recurrent/") + c.model), load);
  ASSERT_TRUE(model.ok()) << model.status();
  const Flags flags;
  const Services services{.flags = &flags};
  Graph rewritten = model->graph;
  const auto report = Rewrite(rewritten, {.services = &services});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->Fired("FuseRecurrence"), c.fused);
  std::vector<std::string> loops;
  for (NodeId id : rewritten.NodeIds()) {
    if (rewritten.node(id).op == "StatelessWhile") loops.push_back(rewritten.node(id).name);
  }
  ASSERT_EQ(static_cast<int>(loops.size()), c.kept);
  if (*c.reason == '\0') return;
  const auto explanation = Explain(model->graph, {.services = &services}, loops);
  ASSERT_TRUE(explanation.ok()) << explanation.status();
  EXPECT_THAT(ExplainText(*explanation), HasSubstr(c.reason));
}

class TrainingModels : public ::testing::TestWithParam<const char*> {};

TEST_P(TrainingModels, DoProductsOutsideOfLoops) {
  const auto model =
      LoadModel(SourcePath(std::string("tests/models/recurrent/") + GetParam() + "/graph.pb"), {});
  ASSERT_TRUE(model.ok()) << model.status();
  const Flags flags;
  const Services services{.flags = &flags};
  Graph rewritten = model->graph;
  const auto report = Rewrite(rewritten, {.services = &services});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->Fired("MoveLoopProducts"), 1);
  EXPECT_EQ(report->Fired("MoveLoopSums"), 1);
  int kept = 0;  // sums that a loop still adds up
  for (const auto& [name, function] : rewritten.functions()) {
    const auto ops = CountOps(*function);
    const auto found = ops.find("BiasAddGrad");
    kept += found == ops.end() ? 0 : found->second;
  }
  EXPECT_EQ(kept, 0);
}

INSTANTIATE_TEST_SUITE_P(, TrainingModels, ::testing::Values("training", "training_batches"));

INSTANTIATE_TEST_SUITE_P(
    Models, RecurrentModels,
    ::testing::Values(LoopCase{"lengths/graph.pb", 9}, LoopCase{"lengths_while/saved_model", 9},
                      LoopCase{"cells/graph.pb", 7}, LoopCase{"cells_while/saved_model", 7},
                      LoopCase{"stacks/graph.pb", 4},
                      LoopCase{"residual/graph.pb", 0, 1, "its results are not the new states"},
                      LoopCase{"keras2/graph.pb", 6},
                      LoopCase{"gradient_while/saved_model", 0, 2,
                               "a gradient needs values of every step"},
                      // The gradient is not computed.
                      LoopCase{"gradient/graph.pb", 1, 0, "", {"y:0"}},
                      LoopCase{"gradient_while/saved_model", 1, 0, "", {"rnn/transpose_1:0"}}));

}  // namespace
}  // namespace tenon
