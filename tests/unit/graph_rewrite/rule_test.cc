#include "graph_rewrite/rule.h"

#include "absl/strings/str_cat.h"
#include "env/flags.h"
#include "gmock/gmock.h"
#include "graph/text.h"
#include "graph_rewrite/pipeline.h"
#include "gtest/gtest.h"
#include "ops/op.h"
#include "tests/support/interpreter.h"

namespace tenon {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(RuleTable, HasNoErrors) {
  EXPECT_THAT(RuleTableErrors(), IsEmpty());
  EXPECT_FALSE(AllRules().empty());
}

TEST(RuleTable, ContractionsLeadReducedPrecision) {
  int contractions = 0;
  for (const Rule& rule : AllRules()) {
    if (rule.contraction == nullptr) continue;
    ++contractions;
    EXPECT_EQ(FactsOf(rule.contraction).precision, PrecisionRole::kLeads) << rule.contraction;
    EXPECT_EQ(FactsOf(rule.fused).precision, PrecisionRole::kLeads) << rule.fused;
  }
  EXPECT_GE(contractions, 7);
}

TEST(RuleTable, LargerPatternsComeFirst) {
  size_t swish = 0, hard_swish = 0;
  for (size_t i = 0; i < AllRules().size(); ++i) {
    if (AllRules()[i].name == std::string("FuseSwish")) swish = i;
    if (AllRules()[i].name == std::string("FuseHardSwish")) hard_swish = i;
  }
  EXPECT_LT(hard_swish, swish);
}

TEST(Rewrite, UnknownDisabledRuleIsAnError) {
  Flags flags;
  flags.disabled_rules = "FuseSwish, NoSuchRule";
  const Services services{.flags = &flags};
  Graph g;
  auto report = Rewrite(g, {.services = &services});
  ASSERT_FALSE(report.ok());
  EXPECT_THAT(std::string(report.status().message()), HasSubstr("NoSuchRule"));
}

TEST(Rewrite, DisabledRulesStayOut) {
  auto parsed = ParseGraph("%x = Placeholder() %s = Sigmoid(%x) %y = Mul(%x, %s) out y = %y");
  ASSERT_TRUE(parsed.ok());
  ASSERT_TRUE(testing::CompleteGraph(*parsed).ok());
  Flags flags;
  for (const char* disabled : {"", "FuseSwish"}) {
    flags.disabled_rules = disabled;
    const Services services{.flags = &flags};
    Graph g = *parsed;
    auto report = Rewrite(g, {.services = &services, .last = Phase::kFuse});
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_EQ(report->Fired("FuseSwish"), *disabled == 0 ? 1 : 0);
  }
}

TEST(Rewrite, BodiesOfFunctionsAreRewritten) {
  auto parsed = ParseGraph(R"(
    %x = Placeholder()
    out y = %x
    function body {
      in a = %a
      %a = Placeholder()
      %i = Identity(%a)
      %s = Sigmoid(%i)
      %y = Mul(%a, %s)
      out r = %y
    }
  )");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  Graph body = *parsed->functions().at("body");
  ASSERT_TRUE(testing::CompleteGraph(body).ok());
  ASSERT_TRUE(testing::CompleteGraph(*parsed).ok());
  parsed->SetFunction("body", std::make_shared<const Graph>(body));
  const Flags flags;
  const Services services{.flags = &flags};
  std::vector<std::string> dumped;
  auto report = Rewrite(
      *parsed, {.services = &services,
                .dump = [&](absl::string_view phase, const Graph&) { dumped.emplace_back(phase); },
                .last = Phase::kFuse,
                .verify = true});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->Fired("FuseSwish"), 1);
  EXPECT_EQ(parsed->functions().at("body")->outputs().size(), 1u);
  EXPECT_EQ(CountOps(*parsed->functions().at("body")).count("Sigmoid"), 0u);
  EXPECT_THAT(dumped, ::testing::ElementsAre("loaded", "clean", "fold", "fuse"));
}

// A second run must find nothing to do: TensorFlow calls graph optimizers more than once.
TEST(Rewrite, NodesThatFailStay) {
  for (const char* node :
       {"Pad(%x, %p) {Tpaddings=int32}", "Transpose(%x, %s) {Tperm=int32}", "AddN(%x, %w) {N=2}"}) {
    auto graph = ParseGraph(absl::StrCat(R"(
      %x = Placeholder() {dtype=float, shape=<1,3>}
      %w = Placeholder() {dtype=float, shape=<1,1,3>}
      %p = Const() {dtype=int32, value=int32<3,2>{0, 0, 0, 0, 0, 0}}
      %s = Const() {dtype=int32, value=int32<1>{0}}
      %y = )",
                                         node, "\nout y = %y\n"));
    ASSERT_TRUE(graph.ok()) << graph.status();
    ASSERT_TRUE(testing::CompleteGraph(*graph).ok());
    const std::string op = graph->FindNode("y")->op;
    Flags flags;
    const Services services{.flags = &flags};
    auto report = Rewrite(*graph, {.services = &services, .last = Phase::kFuse});
    ASSERT_TRUE(report.ok()) << report.status();
    ASSERT_NE(graph->FindNode("y"), nullptr) << op;
    EXPECT_EQ(graph->FindNode("y")->op, op);
  }
}

TEST(Rewrite, IsIdempotent) {
  auto parsed = ParseGraph(R"(
    %x = Placeholder() {shape=<?,5,6,3>}
    %w = Const() {value=float<3,3,3,3>{random 1}}
    %s = Const() {value=float<3>{random 2}}
    %conv = Conv2D(%x, %w) {strides=[1, 1, 1, 1], padding="SAME"}
    %scaled = Mul(%conv, %s)
    %sum = AddV2(%scaled, %x)
    %y = Relu(%sum)
    out y = %y
  )");
  ASSERT_TRUE(parsed.ok());
  ASSERT_TRUE(testing::CompleteGraph(*parsed).ok());
  const Flags flags;
  const Services services{.flags = &flags};
  ASSERT_TRUE(Rewrite(*parsed, {.services = &services}).ok());
  const std::string once = PrintGraph(*parsed);
  auto again = Rewrite(*parsed, {.services = &services});
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(PrintGraph(*parsed), once);
  for (const PhaseReport& p : again->phases) EXPECT_TRUE(p.fired.empty()) << Name(p.phase);
}

TEST(Rewrite, GateOffTouchesNothing) {
  Flags flags;
  flags.onednn_opts = false;
  const Services services{.flags = &flags};
  Graph g;
  Node n;
  n.name = "dead";
  n.op = "NoOp";
  ASSERT_TRUE(g.AddNode(n).ok());
  auto report = Rewrite(g, {.services = &services});
  ASSERT_TRUE(report.ok());
  EXPECT_FALSE(report->enabled);
  EXPECT_EQ(g.num_nodes(), 1u);
}

}  // namespace
}  // namespace tenon
