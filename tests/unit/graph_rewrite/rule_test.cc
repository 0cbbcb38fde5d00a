#include "graph_rewrite/rule.h"

#include "gmock/gmock.h"
#include "graph_rewrite/pipeline.h"
#include "gtest/gtest.h"

namespace tenon {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(RuleTable, HasNoErrors) {
  EXPECT_THAT(RuleTableErrors(), IsEmpty());
  EXPECT_FALSE(AllRules().empty());
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
