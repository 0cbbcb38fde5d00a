// Regions in half compute in float: which nodes are converted, and that outputs stay half.
#include <gtest/gtest.h>

#include <Eigen/Core>

#include "primitive_cache/isa.h"
#include "tests/unit/graph_rewrite/rewritten.h"

namespace tenon {
namespace {

Graph InFloat(const char* text, Phase last = Phase::kFold, const char* disabled = "") {
  return Rewritten(text, {.last = last}, disabled);
}

// A layer as in a mixed-precision Keras model: float weights and norm, half in between.
constexpr char kMixed[] = R"(
%x = Placeholder() {dtype=float, shape=<2,5,5,3>}
%w = Const() {value=float<3,3,3,4>{random 1 -1 1}}
%scale = Const() {value=float<4>{0.5, 1, 2, -1}}
%shift = Const() {value=float<4>{1, 0, -1, 3}}
%xh = Cast(%x) {SrcT=float, DstT=half}
%wh = Cast(%w) {SrcT=float, DstT=half}
%c = Conv2D(%xh, %wh) {T=half, strides=[1, 1, 1, 1], padding="SAME"}
%cf = Cast(%c) {SrcT=half, DstT=float}
%m = Mul(%cf, %scale)
%a = AddV2(%m, %shift)
%ah = Cast(%a) {SrcT=float, DstT=half}
%y = Relu(%ah) {T=half}
in x = %x
out y = %y
)";

TEST(ComputeInFloat, CastsInsideVanishAndTheOutputStaysHalf) {
  const Graph g = InFloat(kMixed);
  EXPECT_EQ(TypeOf(g, "c"), DType::kFloat);
  EXPECT_EQ(CountOf(g, "Cast"), 1) << PrintGraph(g);  // of the output
  const Node& out = g.node(g.outputs()[0].source.node);
  ASSERT_EQ(out.op, "Cast") << PrintGraph(g);
  EXPECT_EQ(*out.attr<DType>("DstT"), DType::kHalf);
}

TEST(ComputeInFloat, TheRulesForFloatSeeAllOfIt) {
  const Graph g = InFloat(kMixed, Phase::kFuse);
  EXPECT_EQ(CountOf(g, "_FusedConv2D"), 1) << PrintGraph(g);
  EXPECT_EQ(CountOf(g, "Relu"), 0);
  EXPECT_EQ(CountOf(g, "Mul"), 0);
}

TEST(ComputeInFloat, GivesTheSameWithinHalfsRounding) {
  const Flags flags;
  const Services services{.flags = &flags, .threads = 1};
  auto plain = ParseGraph(kMixed);
  ASSERT_TRUE(plain.ok());
  ASSERT_TRUE(testing::CompleteGraph(*plain).ok());
  std::vector<float> values(2 * 5 * 5 * 3);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 17) / 17.0f - 0.4f;
  const Tensor x = Tensor::From(Shape({2, 5, 5, 3}), std::move(values));
  const auto want = testing::Interpret(*plain, {{"x", x}}, services);
  const auto got = testing::Interpret(InFloat(kMixed), {{"x", x}}, services);
  ASSERT_TRUE(want.ok()) << want.status();
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_EQ((*got)[0].dtype(), DType::kHalf);
  for (int64_t i = 0; i < (*want)[0].num_elements(); ++i) {
    // A few roundings of values below 16: half an ulp of them is 2^-8.
    EXPECT_NEAR(static_cast<float>((*got)[0].data<half>()[i]),
                static_cast<float>((*want)[0].data<half>()[i]), 2.0f / 256);
  }
}

TEST(ComputeInFloat, ElementwiseBeforeAContractionJoins) {
  const Graph g = InFloat(R"(
%x = Placeholder() {dtype=half, shape=<3,4>}
%t = Tanh(%x) {T=half}
%y = MatMul(%t, %t) {T=half, transpose_b=true}
in x = %x
out y = %y
)");
  EXPECT_EQ(TypeOf(g, "t"), DType::kFloat);
  EXPECT_EQ(TypeOf(g, "y"), DType::kFloat);
  EXPECT_EQ(CountOf(g, "Cast"), 2) << PrintGraph(g);
}

TEST(ComputeInFloat, MoversAtTheBorderStayHalf) {
  const Graph g = InFloat(R"(
%x = Placeholder() {dtype=half, shape=<3,4>}
%p = Const() {value=int32<2>{1, 0}}
%t = Transpose(%x, %p) {T=half, Tperm=int32}
%m = MatMul(%t, %x) {T=half}
%y = Transpose(%m, %p) {T=half, Tperm=int32}
in x = %x
out y = %y
)");
  EXPECT_EQ(TypeOf(g, "m"), DType::kFloat);
  EXPECT_EQ(TypeOf(g, "t"), DType::kHalf);
  EXPECT_EQ(TypeOf(g, "y"), DType::kHalf);
}

TEST(ComputeInFloat, ComparisonsAndIntegersReadRoundedValues) {
  const Graph g = InFloat(R"(
%x = Placeholder() {dtype=half, shape=<3,3>}
%m = MatMul(%x, %x) {T=half}
%g = Greater(%m, %x) {T=half}
%i = Cast(%m) {SrcT=half, DstT=int32}
in x = %x
out g = %g
out i = %i
)");
  EXPECT_EQ(TypeOf(g, "g"), DType::kHalf);
  EXPECT_EQ(*g.FindNode("i")->attr<DType>("SrcT"), DType::kHalf);
}

TEST(ComputeInFloat, WhatJumpsReadsRoundedValues) {
  const Graph g = InFloat(R"(
%x = Placeholder() {dtype=half, shape=<3,3>}
%m = MatMul(%x, %x) {T=half}
%f = Floor(%m) {T=half}
in x = %x
out f = %f
)");
  EXPECT_EQ(TypeOf(g, "m"), DType::kFloat);
  EXPECT_EQ(TypeOf(g, "f"), DType::kHalf);
}

TEST(ComputeInFloat, WithoutAContractionNothingMoves) {
  const Graph g = InFloat(R"(
%x = Placeholder() {dtype=half, shape=<3,3>}
%y = Tanh(%x) {T=half}
in x = %x
out y = %y
)");
  EXPECT_EQ(TypeOf(g, "y"), DType::kHalf);
}

TEST(ComputeInFloat, CanBeDisabled) {
  EXPECT_EQ(TypeOf(InFloat(kMixed, Phase::kFold, "ComputeInFloat"), "c"), DType::kHalf);
}

TEST(ComputeInFloat, Bfloat16MovesWhereTheCpuHasNoInstructions) {
  const Graph g = InFloat(R"(
%x = Placeholder() {dtype=bfloat16, shape=<3,3>}
%y = MatMul(%x, %x) {T=bfloat16}
in x = %x
out y = %y
)");
  EXPECT_EQ(TypeOf(g, "y"), HasBfloat16Instructions() ? DType::kBfloat16 : DType::kFloat);
}

}  // namespace
}  // namespace tenon
