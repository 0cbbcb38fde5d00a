#include "graph_rewrite/explain.h"

#include "env/flags.h"
#include "gmock/gmock.h"
#include "graph/text.h"
#include "gtest/gtest.h"
#include "tests/support/interpreter.h"

namespace tenon {
namespace {

using ::testing::HasSubstr;

std::string ExplainOf(absl::string_view text, const std::vector<std::string>& nodes) {
  auto g = ParseGraph(text);
  EXPECT_TRUE(g.ok()) << g.status();
  EXPECT_TRUE(testing::CompleteGraph(*g).ok());
  const Flags flags;
  const Services services{.flags = &flags};
  const std::string before = PrintGraph(*g);
  auto e = Explain(*g, {.services = &services}, nodes);
  EXPECT_TRUE(e.ok()) << e.status();
  EXPECT_EQ(PrintGraph(*g), before) << "explaining must not change the graph";
  return e.ok() ? ExplainText(*e) : "";
}

constexpr char kConv[] = R"(
  %x = Placeholder() {shape=<?,5,6,3>}
  %w = Const() {value=float<3,3,3,4>{random 1}}
  %b = Const() {value=float<4>{random 2}}
  %conv = Conv2D(%x, %w) {strides=[1, 1, 1, 1], padding="SAME"}
  %biased = BiasAdd(%conv, %b)
  %y = Relu(%biased)
  out y = %y
)";

TEST(Explain, TellsWhereANodeWent) {
  const std::string text = ExplainOf(kConv, {});
  EXPECT_THAT(text, HasSubstr("conv (Conv2D) -> y (_MklNativeFusedConv2D), accelerated"));
  EXPECT_THAT(text, HasSubstr("FuseConv2D"));
  EXPECT_THAT(text, HasSubstr("fired: now part of 'y'"));
}

TEST(Explain, SeesBodiesAsTheRuleSawThem) {
  const std::string text = ExplainOf(R"(
    %zero = Const() {value=int32<>{0}}
    %h = Placeholder() {shape=<2,4>}
    %loop = StatelessWhile(%zero, %h) {cond=@less, body=@step}
    out h = %loop:1
    function "less" {
      in i = %i  %i = Placeholder() {dtype=int32}
      in h = %h  %h = Placeholder()
      %n = Const() {value=int32<>{3}}
      %more = Less(%i, %n)
      out more = %more
    }
    function "step" {
      in i = %i  %i = Placeholder() {dtype=int32}
      in h = %h  %h = Placeholder()
      %one = Const() {value=int32<>{1}}
      %next = AddV2(%i, %one)
      %w = Const() {value=float<4,4>{random 1}}
      %b = Const() {value=float<4>{random 2}}
      %p = MatMul(%h, %w)
      %s = BiasAdd(%p, %b)
      %t = Tanh(%s)
      out i = %next
      out h = %t
    }
  )",
                                     {"loop"});
  // MatMul and BiasAdd are fused by then.
  EXPECT_THAT(text, HasSubstr("FuseRecurrence             its cell has no input"));
}

TEST(Explain, TellsOfAnotherReader) {
  const std::string text = ExplainOf(std::string(kConv) + "%z = Tanh(%conv) out z = %z", {"conv"});
  EXPECT_THAT(text, HasSubstr("almost: 'conv' (Conv2D) has another reader, 'z'"));
}

TEST(Explain, TellsOfWeightsThatAreNotConstant) {
  const std::string text = ExplainOf(R"(
    %x = Placeholder() {shape=<?,5>}
    %w = Placeholder() {shape=<5,4>}
    %s = Const() {value=float<4>{random 2}}
    %m = MatMul(%x, %w)
    %y = Mul(%m, %s)
    %z = Exp(%y)
    out y = %y
    out z = %z
  )",
                                     {"y"});
  EXPECT_THAT(text, HasSubstr("'w', its weights, is not constant"));
}

TEST(Explain, TellsOfAPatternThatAlmostMatched) {
  const std::string text = ExplainOf(R"(
    %x = Placeholder() {shape=<?,8>}
    %z = Placeholder() {shape=<?,8>}
    %s = Sigmoid(%x)
    %y = Mul(%z, %s)
    out y = %y
  )",
                                     {"s"});
  EXPECT_THAT(text, HasSubstr("FuseSwish"));
  EXPECT_THAT(text, HasSubstr("is not the same tensor as %x"));
}

TEST(Explain, TellsOfControlInputs) {
  const std::string text = ExplainOf(R"(
    %x = Placeholder() {shape=<1,5,6,3>}
    %w = Const() {value=float<3,3,3,4>{random 1}}
    %p = Const() {value=int32<4,2>{0, 0, 1, 1, 1, 1, 0, 0}}
    %yes = Const() {value=bool<>{true}}
    %check = Assert(%yes, %x)
    %pad = Pad(%x, %p) ^%check
    %y = Conv2D(%pad, %w) {strides=[1, 1, 1, 1], padding="VALID"}
    out y = %y
  )",
                                     {"y"});
  EXPECT_THAT(text, HasSubstr("FusePadConv"));
  EXPECT_THAT(text, HasSubstr("almost: 'pad' (Pad) must run after 'check'"));
}

TEST(Explain, AnUnknownNodeIsAnError) {
  const Graph g;
  const Flags flags;
  const Services services{.flags = &flags};
  EXPECT_EQ(Explain(g, {.services = &services}, {"nothing"}).status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace tenon
