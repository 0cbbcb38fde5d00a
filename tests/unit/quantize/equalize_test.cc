#include "runtime/quantize/equalize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "env/flags.h"
#include "graph/text.h"
#include "runtime/session/session.h"
#include "tests/support/interpreter.h"

namespace tenon {
namespace {

Tensor Run(const Graph& graph, const Tensor& x) {
  auto session = Session::Create(graph, SessionOptions());
  EXPECT_TRUE(session.ok()) << session.status();
  auto outputs = (*session)->Run({{"x", x}});
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  return (*outputs)[0].second;
}

// Equalizes all links with channels of sizes 1, 2, 4 ...; returns the number of links.
size_t EqualizeAll(Graph& graph) {
  Flags flags;
  Services services;
  services.flags = &flags;
  Rewriter rw(graph);
  RuleContext context(rw, services);
  auto layers = FindLayers(context);
  EXPECT_TRUE(layers.ok()) << layers.status();
  const std::vector<Link> links = FindLinks(context, *layers);
  for (const Link& link : links) {
    ChannelSizes sizes(link.channels);
    sizes.rows = 1;
    for (size_t c = 0; c < sizes.largest.size(); ++c) {
      sizes.largest[c] = std::exp2(static_cast<float>(c));
      sizes.squares[c] = sizes.largest[c] * sizes.largest[c];
    }
    EXPECT_TRUE(Equalize(context, link, sizes).ok());
  }
  return links.size();
}

void ExpectSameNumbers(const std::string& text, const Shape& shape, size_t links) {
  auto graph = ParseGraph(text);
  ASSERT_TRUE(graph.ok()) << graph.status();
  ASSERT_TRUE(testing::CompleteGraph(*graph).ok());
  Tensor x = *Tensor::Allocate(DType::kFloat, shape);
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    x.data<float>()[i] = std::sin(static_cast<float>(i));
  }
  const Tensor before = Run(*graph, x);
  const std::string text_before = PrintGraph(*graph);
  EXPECT_EQ(EqualizeAll(*graph), links);
  EXPECT_EQ(PrintGraph(*graph) == text_before, links == 0);
  const Tensor after = Run(*graph, x);
  ASSERT_EQ(before.shape(), after.shape());
  for (int64_t i = 0; i < before.num_elements(); ++i) {
    EXPECT_NEAR(before.data<float>()[i], after.data<float>()[i], 2e-5f) << i;
  }
}

TEST(Equalize, ThroughReluPadsPoolsAndSums) {
  ExpectSameNumbers(R"(
in x = %x
%x = Placeholder() {shape=<2,9,8,5>}
%v = Const() {value=float<1,1,5,6>{random 1}}
%a = Conv2D(%x, %v) {strides=[1, 1, 1, 1], padding="SAME"}
%b = Const() {value=float<6>{random 2}}
%ab = BiasAdd(%a, %b)
%r = Relu(%ab)
%by = Const() {value=int32<4,2>{0, 0, 1, 1, 1, 1, 0, 0}}
%p = Pad(%r, %by)
%m = MaxPool(%p) {ksize=[1, 3, 3, 1], strides=[1, 1, 1, 1], padding="VALID"}
%d = Const() {value=float<3,3,6,1>{random 3}}
%e = DepthwiseConv2dNative(%m, %d) {strides=[1, 1, 1, 1], padding="SAME"}
%s = AddV2(%e, %m)
%w = Const() {value=float<3,3,6,4>{random 4}}
%y = Conv2D(%s, %w) {strides=[1, 2, 2, 1], padding="SAME"}
out y = %y
)",
                    Shape({2, 9, 8, 5}), 1);
}

TEST(Equalize, GatesAndProductsOfMatrices) {
  ExpectSameNumbers(R"(
in x = %x
%x = Placeholder() {shape=<2,5,4,6>}
%axes = Const() {value=int32<2>{1, 2}}
%g = Mean(%x, %axes) {keep_dims=true}
%m = Mul(%g, %x)
%w = Const() {value=float<1,1,6,7>{random 1}}
%c = Conv2D(%m, %w) {strides=[1, 1, 1, 1], padding="VALID"}
%f = Const() {value=int32<2>{-1, 7}}
%flat = Reshape(%c, %f)
%v = Const() {value=float<7,6>{random 2}}
%h = MatMul(%flat, %v)
%r = Relu(%h)
%u = Const() {value=float<3,6>{random 3}}
%y = MatMul(%r, %u) {transpose_b=true}
out y = %y
)",
                    Shape({2, 5, 4, 6}), 2);
}

TEST(Equalize, NotThroughOtherOpsAndOutputs) {
  const std::string begin = R"(
in x = %x
%x = Placeholder() {shape=<2,5,4,6>}
%v = Const() {value=float<1,1,6,7>{random 1}}
%a = Conv2D(%x, %v) {strides=[1, 1, 1, 1], padding="VALID"}
%w = Const() {value=float<1,1,7,7>{random 2}}
)";
  const std::string end = R"(
%y = Conv2D(%r, %w) {strides=[1, 1, 1, 1], padding="VALID"}
out y = %y
)";
  const Shape shape({2, 5, 4, 6});
  ExpectSameNumbers(begin + "%r = Relu6(%a)" + end, shape, 0);
  ExpectSameNumbers(begin + "%r = Sigmoid(%a)" + end, shape, 0);
  ExpectSameNumbers(begin + "%r = Relu(%a)" + end + "out r = %r\n", shape, 0);
  ExpectSameNumbers(begin + "%r = Relu(%a)\n%t = Tanh(%r)" + end + "out t = %t\n", shape, 0);
}

}  // namespace
}  // namespace tenon
