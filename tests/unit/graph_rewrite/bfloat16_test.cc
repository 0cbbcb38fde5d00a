// What ConvertToBfloat16 converts, and what it leaves in float.
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>

#include "tests/unit/graph_rewrite/rewritten.h"

namespace tenon {
namespace {

Graph Converted(const char* text) {
  return Rewritten(text, {.last = Phase::kPrecision, .precision = Precision::kBfloat16});
}

TEST(ConvertToBfloat16, WeightsBecomeBfloat16AndOutputsStayFloat) {
  const Graph g = Converted(R"(
%x = Placeholder() {dtype=float, shape=<?,4>}
%w = Const() {value=float<4,2>{1,2,3,4,5,6,7,8}}
%y = MatMul(%x, %w)
in x = %x
out y = %y
)");
  EXPECT_EQ(TypeOf(g, "y"), DType::kBfloat16);
  EXPECT_EQ(CountOf(g, "Cast"), 2);  // of x, and of the result
  const Node& out = g.node(g.outputs()[0].source.node);
  EXPECT_EQ(out.op, "Cast");
  for (NodeId id : g.NodeIds()) {
    if (const Tensor* value = g.node(id).attr<Tensor>("value")) {
      EXPECT_EQ(value->dtype(), DType::kBfloat16);
    }
  }
}

TEST(ConvertToBfloat16, WhatStandsBetweenGoesAlong) {
  const Graph g = Converted(R"(
%x = Placeholder() {dtype=float, shape=<?,4>}
%w = Const() {value=float<4,4>{1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16}}
%a = MatMul(%x, %w)
%s = Softmax(%a)
%b = MatMul(%s, %w)
in x = %x
out b = %b
)");
  EXPECT_EQ(TypeOf(g, "s"), DType::kBfloat16);
  EXPECT_EQ(CountOf(g, "Cast"), 2);
}

TEST(ConvertToBfloat16, ProductsThatChooseOrAreComparedStayInFloat) {
  const Graph g = Converted(R"(
%x = Placeholder() {dtype=float, shape=<?,3>}
%choice = Const() {value=float<3,2>{0,1,0,0,1,0}}
%chosen = MatMul(%x, %choice)
%w = Const() {value=float<2,4>{1,2,3,4,5,6,7,8}}
%a = MatMul(%chosen, %w)
%b = Const() {value=float<4>{1,2,3,4}}
%shifted = BiasAdd(%a, %b)
%limit = Const() {value=float<>{0.5}}
%over = Less(%shifted, %limit)
%numbers = Cast(%over) {SrcT=bool, DstT=float}
%v = Const() {value=float<4,2>{1,2,3,4,5,6,7,8}}
%y = MatMul(%numbers, %v)
in x = %x
out y = %y
)");
  EXPECT_EQ(TypeOf(g, "chosen"), DType::kFloat);
  EXPECT_EQ(TypeOf(g, "y"), DType::kBfloat16);
  for (NodeId id : g.NodeIds()) {
    const Node& n = g.node(id);
    if (n.op == "Less") {
      EXPECT_EQ(*n.attr<DType>("T"), DType::kFloat);
    }
  }
}

TEST(ConvertToBfloat16, TheLastSoftmaxStaysInFloat) {
  const Graph g = Converted(R"(
%x = Placeholder() {dtype=float, shape=<?,4>}
%w = Const() {value=float<4,2>{1,2,3,4,5,6,7,8}}
%a = MatMul(%x, %w)
%s = Softmax(%a)
in x = %x
out s = %s
)");
  EXPECT_EQ(TypeOf(g, "a"), DType::kBfloat16);
  EXPECT_EQ(TypeOf(g, "s"), DType::kFloat);
}

TEST(ConvertToBfloat16, SumsStayInFloat) {
  const Graph g = Converted(R"(
%x = Placeholder() {dtype=float, shape=<?,4>}
%w = Const() {value=float<4,4>{1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16}}
%axis = Const() {value=int32<1>{1}}
%a = MatMul(%x, %w)
%e = Exp(%a)
%m = Sum(%e, %axis) {keep_dims=true}
%d = RealDiv(%e, %m)
%b = MatMul(%d, %w)
in x = %x
out b = %b
)");
  EXPECT_EQ(TypeOf(g, "m"), DType::kFloat);
  EXPECT_EQ(TypeOf(g, "b"), DType::kBfloat16);
}

TEST(ConvertToBfloat16, AveragesOfPixelsGoAlongAndOthersDoNot) {
  const Graph g = Converted(R"(
%x = Placeholder() {dtype=float, shape=<?,6,5,4>}
%w = Const() {value=float<1,1,4,4>{random 1 -1 1}}
%spatial = Const() {value=int32<2>{1, 2}}
%channels = Const() {value=int32<1>{3}}
%a = Conv2D(%x, %w) {strides=[1, 1, 1, 1], padding="SAME"}
%m = Mean(%a, %spatial) {keep_dims=true}
%b = Conv2D(%m, %w) {strides=[1, 1, 1, 1], padding="SAME"}
%c = Mul(%a, %b)
%d = Conv2D(%c, %w) {strides=[1, 1, 1, 1], padding="SAME"}
%n = Mean(%d, %channels) {keep_dims=true}
%e = Mul(%d, %n)
%f = Conv2D(%e, %w) {strides=[1, 1, 1, 1], padding="SAME"}
in x = %x
out f = %f
)");
  EXPECT_EQ(TypeOf(g, "m"), DType::kBfloat16);
  EXPECT_EQ(TypeOf(g, "n"), DType::kFloat);
}

// In bfloat16 the least float would be minus infinity, and a softmax over nothing else NaN.
TEST(ConvertToBfloat16, MasksOfTheLeastFloatStayFinite) {
  const Graph g = Converted(R"(
%x = Placeholder() {dtype=float, shape=<4,4>}
%mask = Placeholder() {dtype=float, shape=<1,4>}
%w = Const() {value=float<4,4>{1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16}}
%least = Const() {value=float<>{-3.4028235e+38}}
%causal = Const() {value=float<4,4>{= -3.4028235e+38}}
%a = MatMul(%x, %w)
%t = Tanh(%a)
%m = Mul(%mask, %least)
%s = AddV2(%t, %m)
%u = Softmax(%s)
%b = MatMul(%u, %w)
%n = Maximum(%b, %m)
%v = Tanh(%n)
%c = AddV2(%v, %causal)
%z = Softmax(%c)
%y = MatMul(%z, %w)
in x = %x
in mask = %mask
out y = %y
)");
  EXPECT_EQ(TypeOf(g, "y"), DType::kBfloat16);
  EXPECT_EQ(CountOf(g, "Minimum") + CountOf(g, "Maximum"), 2) << PrintGraph(g);
  for (NodeId id : g.NodeIds()) {
    const Tensor* const value = g.node(id).attr<Tensor>("value");
    if (value == nullptr || value->dtype() != DType::kBfloat16) continue;
    for (const bfloat16 element : value->flat<bfloat16>()) {
      EXPECT_TRUE(std::isfinite(static_cast<float>(element))) << PrintGraph(g);
    }
  }
}

TEST(ConvertToBfloat16, DoubleIsLeftAlone) {
  const Graph g = Converted(R"(
%x = Placeholder() {dtype=double, shape=<?,4>}
%y = MatMul(%x, %x) {transpose_b=true}
in x = %x
out y = %y
)");
  EXPECT_EQ(TypeOf(g, "y"), DType::kDouble);
  EXPECT_EQ(CountOf(g, "Cast"), 0);
}

TEST(ConvertToBfloat16, ATensorReadInBothPrecisionsIsCastOnce) {
  const Graph g = Converted(R"(
%x = Placeholder() {dtype=float, shape=<4,4>}
%a = MatMul(%x, %x)
%b = MatMul(%a, %x)
%c = MatMul(%a, %b)
%d = Exp(%a)
in x = %x
out c = %c
out d = %d
)");
  // x to bfloat16 once; a and c back to float.
  EXPECT_EQ(CountOf(g, "Cast"), 3) << PrintGraph(g);
}

}  // namespace
}  // namespace tenon
