// Recorded edits lead from the loaded graph to the rewritten one, and origins from one to the
// other.
#include "graph_rewrite/origins.h"

#include <set>

#include "env/flags.h"
#include "gmock/gmock.h"
#include "graph/text.h"
#include "graph_rewrite/contraction.h"
#include "gtest/gtest.h"
#include "proto/import/model.h"
#include "tests/support/interpreter.h"
#include "tests/support/source_dir.h"
#include "tests/unit/graph_rewrite/data_cases.h"

namespace tenon {
namespace {

using ::testing::IsSupersetOf;
using ::testing::UnorderedElementsAre;

struct Rewriting {
  Graph before, after;
  RewriteReport report;
};

Rewriting RewriteAndRecord(Graph graph, Flags flags = {}) {
  Rewriting out;
  const Services services{.flags = &flags, .threads = 1};
  out.before = graph;
  auto report = Rewrite(graph, {.services = &services, .record_edits = true});
  EXPECT_TRUE(report.ok()) << report.status();
  if (report.ok()) out.report = *std::move(report);
  out.after = std::move(graph);
  return out;
}

std::vector<std::string> Names(const Graph& graph, const std::vector<NodeId>& ids) {
  std::vector<std::string> names;
  for (NodeId id : ids) names.push_back(graph.node(id).name);
  return names;
}

// Replays the edits, which must lead to the rewritten graph.
void ExpectEditsAreWhole(const Rewriting& r) {
  std::map<NodeId, std::pair<std::string, std::string>> nodes;  // name, op
  std::map<NodeId, std::vector<Endpoint>> inputs;
  const auto put = [&](const Node& n) {
    nodes[n.id] = {n.name, n.op};
    inputs[n.id].assign(n.inputs.begin(), n.inputs.end());
  };
  for (NodeId id : r.before.NodeIds()) put(r.before.node(id));
  for (const PhaseReport& phase : r.report.phases) {
    for (const RewriteStep& step : phase.steps) {
      if (!step.function.empty()) continue;
      for (const auto& removed : step.edit.removed) {
        EXPECT_TRUE(nodes.erase(removed.id)) << step.rule << " removes " << removed.name;
      }
      for (const Node& n : step.edit.added) {
        EXPECT_FALSE(nodes.contains(n.id)) << step.rule << " adds " << n.name;
        put(n);
      }
      for (const Node& n : step.edit.changed) put(n);
      for (const auto& [old, now] : step.edit.moved) {
        EXPECT_FALSE(nodes.contains(old));
        EXPECT_TRUE(nodes.contains(now)) << step.rule;
      }
    }
  }
  ASSERT_EQ(nodes.size(), r.after.num_nodes());
  for (NodeId id : r.after.NodeIds()) {
    const Node& n = r.after.node(id);
    EXPECT_EQ(nodes[id], (std::pair{n.name, n.op}));
    EXPECT_EQ(inputs[id], std::vector<Endpoint>(n.inputs.begin(), n.inputs.end())) << n.name;
  }
}

TEST(Origins, OfAFusedConvolution) {
  auto g = ParseGraph(R"(
    %x = Placeholder() {shape=<?,5,6,3>}
    %w = Const() {value=float<3,3,3,4>{random 1}}
    %b = Const() {value=float<4>{random 2}}
    %s = Const() {value=float<4>{random 3}}
    %conv = Conv2D(%x, %w) {strides=[1, 1, 1, 1], padding="SAME"}
    %same = Identity(%conv)
    %scaled = Mul(%same, %s)
    %biased = BiasAdd(%scaled, %b)
    %y = Relu(%biased)
    out y = %y
  )");
  ASSERT_TRUE(g.ok()) << g.status();
  ASSERT_TRUE(testing::CompleteGraph(*g).ok());
  const Rewriting r = RewriteAndRecord(*g);
  ExpectEditsAreWhole(r);
  const OriginMap origins(r.report);
  const NodeId fused = r.after.FindNode("y")->id;
  EXPECT_THAT(Names(r.before, origins.SourcesOf(fused)),
              IsSupersetOf({"conv", "same", "scaled", "biased", "y"}));
  for (const char* name : {"conv", "same", "scaled", "biased", "y"}) {
    const std::vector<NodeId> results = origins.ResultsOf(r.before.FindNode(name)->id);
    EXPECT_THAT(results, ::testing::Contains(fused)) << name;
  }
  // The input is its own origin.
  const NodeId x = r.after.FindNode("x")->id;
  EXPECT_THAT(Names(r.before, origins.SourcesOf(x)), UnorderedElementsAre("x"));
}

TEST(Origins, OfNodesThatAreNeededNoMore) {
  auto g = ParseGraph(R"(
    %x = Placeholder() {shape=<?,5>}
    %dead = Exp(%x)
    %y = Relu(%x)
    out y = %y
  )");
  ASSERT_TRUE(g.ok()) << g.status();
  ASSERT_TRUE(testing::CompleteGraph(*g).ok());
  const Rewriting r = RewriteAndRecord(*g);
  ExpectEditsAreWhole(r);
  EXPECT_THAT(OriginMap(r.report).ResultsOf(r.before.FindNode("dead")->id), ::testing::IsEmpty());
}

class OriginsOfCase : public ::testing::TestWithParam<RewriteCase> {};

TEST_P(OriginsOfCase, EditsAreWhole) {
  auto g = ParseGraph(GetParam().graph);
  ASSERT_TRUE(g.ok()) << g.status();
  ASSERT_TRUE(testing::CompleteGraph(*g).ok());
  ExpectEditsAreWhole(RewriteAndRecord(*std::move(g), GetParam().flags));
}

INSTANTIATE_TEST_SUITE_P(, OriginsOfCase, ::testing::ValuesIn(LoadRewriteCases()), RewriteCaseName);

class OriginsOfModel : public ::testing::TestWithParam<const char*> {};

// Every contraction of the model is computed by an accelerated node, and every accelerated node
// computes something of the model.
TEST_P(OriginsOfModel, AreComplete) {
  auto model = LoadModel(SourcePath(absl::StrCat("tests/models/", GetParam(), "/saved_model")), {});
  ASSERT_TRUE(model.ok()) << model.status();
  const Rewriting r = RewriteAndRecord(std::move(model->graph));
  ExpectEditsAreWhole(r);
  const OriginMap origins(r.report);
  for (NodeId id : r.before.NodeIds()) {
    const Node& n = r.before.node(id);
    if (!IsContraction(n.op)) continue;
    const std::vector<NodeId> results = origins.ResultsOf(id);
    ASSERT_FALSE(results.empty()) << n.name;
    EXPECT_TRUE(absl::StartsWith(r.after.node(results[0]).op, "_MklNative"))
        << n.name << " is now " << r.after.node(results[0]).op;
  }
  for (NodeId id : r.after.NodeIds()) {
    const Node& n = r.after.node(id);
    if (!absl::StartsWith(n.op, "_MklNative")) continue;
    EXPECT_FALSE(origins.SourcesOf(id).empty()) << n.name << " comes from nothing";
  }
}

INSTANTIATE_TEST_SUITE_P(, OriginsOfModel,
                         ::testing::Values("resnet50", "mobilenetv2", "efficientnetb0",
                                           "inceptionv3", "densenet121", "bert4", "mlp"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace tenon
