// A near miss must be true: for each kind of reason, the graph in which the change was made by hand
// is rewritten by the rule that the reason names, and the graph as it is, is not.
#include "graph_rewrite/near_miss.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "env/flags.h"
#include "gmock/gmock.h"
#include "graph/text.h"
#include "graph_rewrite/explain.h"
#include "graph_rewrite/story.h"
#include "gtest/gtest.h"
#include "tests/support/interpreter.h"

namespace tenon {
namespace {

struct Case {
  const char* title;
  ReasonKind kind;
  const char* rule;
  const char* node;  // that the reason blames; empty: none
  // "#" is replaced by `with`, or by `without`, which is the graph with the change made.
  const char* graph;
  const char* with;
  const char* without;
  const char* disabled = "";  // in the graph as it is
  const char* never = "";     // a rule that would remove the obstacle
};

constexpr char kConv[] = R"(
  %x = Placeholder() {shape=<2,5,6,3>}
  %w = Const() {value=float<3,3,3,4>{random 1}}
  %b = Const() {value=float<4>{random 2}}
  %conv = Conv2D(%x, %w) {strides=[1, 1, 1, 1], padding="SAME"}
  %biased = BiasAdd(%conv, %b)
  %y = Relu(%biased)
  out y = %y
  #
)";

const Case kCases[] = {
    {"another_reader_in_a_chain", ReasonKind::kReader, "FuseConv2D", "conv", kConv,
     "%z = Max(%conv, %axes) %axes = Const() {value=int32<1>{3}} out z = %z", ""},
    {"another_reader_in_a_pattern", ReasonKind::kReader, "FuseSwish", "s",
     "%x = Placeholder() {shape=<?,8>} %s = Sigmoid(%x) %y = Mul(%x, %s) out y = %y #",
     "%z = Max(%s, %axes) %axes = Const() {value=int32<1>{1}} out z = %z", ""},
    {"a_fetched_result_in_a_chain", ReasonKind::kOutput, "FuseConv2D", "conv", kConv,
     "out z = %conv", ""},
    {"a_fetched_result_in_a_pattern", ReasonKind::kOutput, "FuseSwish", "s",
     "%x = Placeholder() {shape=<?,8>} %s = Sigmoid(%x) %y = Mul(%x, %s) out y = %y #",
     "out s = %s", ""},
    {"a_target", ReasonKind::kTarget, "FuseSwish", "s",
     "%x = Placeholder() {shape=<?,8>} %s = Sigmoid(%x) %y = Mul(%x, %s) out y = %y #", "target %s",
     ""},
    {"a_control_input", ReasonKind::kControlIn, "FuseSwish", "s",
     R"(%x = Placeholder() {shape=<?,8>}
        %yes = Placeholder() {dtype=bool, shape=<>}
        %check = Assert(%yes, %x)
        %s = Sigmoid(%x) #
        %y = Mul(%x, %s)
        out y = %y)",
     "^%check", ""},
    {"a_control_input_before_a_padding", ReasonKind::kControlIn, "FusePadConv", "pad",
     R"(%x = Placeholder() {shape=<1,5,6,3>}
        %w = Const() {value=float<3,3,3,4>{random 1}}
        %p = Const() {value=int32<4,2>{0, 0, 1, 1, 1, 1, 0, 0}}
        %yes = Placeholder() {dtype=bool, shape=<>}
        %check = Assert(%yes, %x)
        %pad = Pad(%x, %p) #
        %y = Conv2D(%pad, %w) {strides=[1, 1, 1, 1], padding="VALID"}
        out y = %y)",
     "^%check", ""},
    {"a_control_edge_out", ReasonKind::kControlOut, "FuseSwish", "s",
     R"(%x = Placeholder() {shape=<?,8>}
        %yes = Placeholder() {dtype=bool, shape=<>}
        %s = Sigmoid(%x)
        %check = Assert(%yes, %x) #
        %y = Mul(%x, %s)
        out y = %y
        target %check)",
     "^%s", "", "", "DropControlEdges"},
    {"a_dtype", ReasonKind::kDType, "FuseSwish", "y",
     R"(%x = Placeholder() {dtype=#, shape=<?,8>}
        %s = Sigmoid(%x)
        %y = Mul(%x, %s)
        out y = %y)",
     "double", "float"},
    {"a_disabled_rule", ReasonKind::kDisabled, "FuseSwish", "",
     "%x = Placeholder() {shape=<?,8>} %s = Sigmoid(%x) %y = Mul(%x, %s) out y = %y", "", "",
     "FuseSwish"},
    {"a_shape", ReasonKind::kShape, "FuseConv2D", "",
     R"(%x = Placeholder() {shape=<2,5,6,3>}
        %r = Placeholder() {shape=<#>}
        %w = Const() {value=float<3,3,3,4>{random 1}}
        %conv = Conv2D(%x, %w) {strides=[1, 1, 1, 1], padding="SAME"}
        %y = AddV2(%conv, %r)
        out y = %y)",
     "?,?,?,4", "2,5,6,4"},
};

class NearMissTest : public ::testing::TestWithParam<Case> {
 protected:
  Graph Parse(const char* instead) const {
    auto g = ParseGraph(absl::StrReplaceAll(GetParam().graph, {{"#", instead}}));
    EXPECT_TRUE(g.ok()) << g.status();
    EXPECT_TRUE(testing::CompleteGraph(*g).ok());
    return *std::move(g);
  }
  int Fired(const Graph& graph, const std::string& disabled) const {
    Flags flags;
    flags.disabled_rules = disabled;
    const Services services{.flags = &flags};
    Graph copy = graph;
    auto report = Rewrite(copy, {.services = &services});
    EXPECT_TRUE(report.ok()) << report.status();
    return report->Fired(GetParam().rule);
  }
};

TEST_P(NearMissTest, IsTrue) {
  const Case& c = GetParam();
  const Graph as_it_is = Parse(c.with), changed = Parse(c.without);
  const std::string disabled = absl::StrCat(c.disabled, c.never);
  EXPECT_GT(Fired(changed, c.never), Fired(as_it_is, disabled)) << "the change allows nothing";

  Flags flags;
  flags.disabled_rules = disabled;
  const Services services{.flags = &flags};
  StoryOptions wanted;
  wanted.input_shapes = {{"x", Shape({2, 5, 6, 3})}, {"r", Shape({2, 5, 6, 4})}};
  if (c.kind != ReasonKind::kShape) wanted.input_shapes.clear();
  auto story = TellStory(as_it_is, {.services = &services}, wanted);
  ASSERT_TRUE(story.ok()) << story.status();
  std::vector<std::string> found;
  bool is_there = false;
  for (const NearMiss& miss : story->near_misses) {
    found.push_back(absl::StrCat(miss.rule, " ", Name(miss.reason.kind), ": ", miss.reason.Text()));
    is_there = is_there || (miss.rule == std::string(c.rule) && miss.reason.kind == c.kind &&
                            miss.reason.node == c.node);
  }
  EXPECT_TRUE(is_there) << absl::StrJoin(found, "\n");

  story = TellStory(changed, {.services = &services}, wanted);
  ASSERT_TRUE(story.ok()) << story.status();
  for (const NearMiss& miss : story->near_misses) {
    const bool same = miss.rule == std::string(c.rule) && miss.reason.kind == c.kind;
    EXPECT_TRUE(!same || c.kind == ReasonKind::kDisabled) << miss.reason.Text();
  }
}

INSTANTIATE_TEST_SUITE_P(, NearMissTest, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.title); });

// A loop whose body has a swish with a fetched sigmoid.
TEST(NearMisses, AreFoundInLoopBodies) {
  auto g = ParseGraph(R"(
    in x = %x
    %x = Placeholder() {dtype=float, shape=<4,8>}
    %n = Const() {dtype=int32, value=int32<>{0}}
    %loop = StatelessWhile(%n, %x, %x) {T=[int32, float, float], body=@body, cond=@cond, output_shapes=[<>, <4,8>, <4,8>], parallel_iterations=1}
    out y = %loop:1
    out s = %loop:2
    function "cond" {
      in i = %i in a = %a in b = %b
      %i = Placeholder() {dtype=int32, shape=<>}
      %a = Placeholder() {dtype=float, shape=<4,8>}
      %b = Placeholder() {dtype=float, shape=<4,8>}
      %three = Const() {dtype=int32, value=int32<>{3}}
      %less = Less(%i, %three) {T=int32}
      out less = %less
    }
    function "body" {
      in i = %i in a = %a in b = %b
      %i = Placeholder() {dtype=int32, shape=<>}
      %a = Placeholder() {dtype=float, shape=<4,8>}
      %b = Placeholder() {dtype=float, shape=<4,8>}
      %one = Const() {dtype=int32, value=int32<>{1}}
      %next = AddV2(%i, %one) {T=int32}
      %sigmoid = Sigmoid(%a) {T=float}
      %swish = Mul(%a, %sigmoid) {T=float}
      out i = %next out a = %swish out b = %sigmoid
    }
  )");
  ASSERT_TRUE(g.ok()) << g.status();
  const Flags flags;
  const Services services{.flags = &flags};
  auto story = TellStory(*g, {.services = &services}, {});
  ASSERT_TRUE(story.ok()) << story.status();
  bool is_there = false;
  for (const NearMiss& miss : story->near_misses) {
    is_there |= miss.function == "body" && miss.rule == "FuseSwish" &&
                miss.reason.kind == ReasonKind::kOutput && miss.reason.node == "sigmoid";
  }
  EXPECT_TRUE(is_there);
  // And the story of a node in it.
  auto told = Explain(*story, {"swish"});
  ASSERT_TRUE(told.ok()) << told.status();
  EXPECT_EQ((*told)[0].function, "body");
  const auto& rules = (*told)[0].rules;
  EXPECT_TRUE(std::any_of(rules.begin(), rules.end(), [](const RuleVerdict& v) {
    return v.rule == "FuseSwish" && v.near_miss && !v.fired;
  }));
  EXPECT_FALSE(Explain(*story, {"nobody"}).ok());
}

TEST(NearMisses, TwoObstaclesAreNone) {
  auto g = ParseGraph(R"(
    %x = Placeholder() {shape=<?,8>}
    %yes = Placeholder() {dtype=bool, shape=<>}
    %check = Assert(%yes, %x)
    %s = Sigmoid(%x) ^%check
    %y = Mul(%x, %s)
    out y = %y
    out s = %s
  )");
  ASSERT_TRUE(g.ok()) << g.status();
  ASSERT_TRUE(testing::CompleteGraph(*g).ok());
  const Flags flags;
  const Services services{.flags = &flags};
  auto story = TellStory(*g, {.services = &services}, {});
  ASSERT_TRUE(story.ok()) << story.status();
  for (const NearMiss& miss : story->near_misses) EXPECT_NE(miss.rule, "FuseSwish");
}

}  // namespace
}  // namespace tenon
