#include "graph_rewrite/shapes.h"

#include "env/flags.h"
#include "graph/text.h"
#include "gtest/gtest.h"
#include "tests/support/interpreter.h"

namespace tenon {
namespace {

class Shapes : public ::testing::Test {
 protected:
  void Load(absl::string_view text) {
    auto g = ParseGraph(text);
    ASSERT_TRUE(g.ok()) << g.status();
    graph_ = *std::move(g);
    ASSERT_TRUE(testing::CompleteGraph(graph_).ok());
    rewriter_.emplace(graph_);
    info_.emplace(*rewriter_, services_);
  }
  Endpoint At(absl::string_view name) { return {graph_.FindNode(name)->id, 0}; }
  bool Same(absl::string_view a, absl::string_view b) { return info_->SameShape(At(a), At(b)); }
  bool Into(absl::string_view a, absl::string_view b) { return info_->BroadcastsTo(At(a), At(b)); }

  Flags flags_;
  Services services_{.flags = &flags_};
  Graph graph_;
  std::optional<Rewriter> rewriter_;
  std::optional<ShapeInfo> info_;
};

TEST_F(Shapes, TwoInputsMayDiffer) {
  Load("%x = Placeholder() {shape=<?,4>} %z = Placeholder() {shape=<?,4>} %a = Relu(%x)");
  EXPECT_TRUE(Same("x", "a"));
  EXPECT_FALSE(Same("x", "z"));
  EXPECT_FALSE(Into("x", "z"));  // x may have rows where z has one
}

// The sum has the larger of two sizes, so each side broadcasts to it, but neither is its equal.
TEST_F(Shapes, SumsCoverTheirOperands) {
  Load("%x = Placeholder() {shape=<?,4>} %z = Placeholder() {shape=<?,4>} %a = AddV2(%x, %z)");
  EXPECT_FALSE(Same("x", "a"));
  EXPECT_TRUE(Into("x", "a"));
  EXPECT_TRUE(Into("z", "a"));
  EXPECT_FALSE(Into("a", "x"));
}

TEST_F(Shapes, ConvolutionsKeepOrHalveTheSize) {
  Load(R"(
    %x = Placeholder() {shape=<?,?,?,4>}
    %w = Const() {value=float<3,3,4,4>{= 1}}
    %same = Conv2D(%x, %w) {strides=[1, 1, 1, 1], padding="SAME"}
    %valid = Conv2D(%x, %w) {strides=[1, 1, 1, 1], padding="VALID"}
    %half = Conv2D(%x, %w) {strides=[1, 2, 2, 1], padding="SAME"}
    %half2 = Conv2D(%same, %w) {strides=[1, 2, 2, 1], padding="SAME"}
    %half3 = Conv2D(%x, %w) {strides=[1, 2, 2, 1], padding="VALID"}
  )");
  EXPECT_TRUE(Same("x", "same"));
  EXPECT_FALSE(Same("x", "valid"));
  EXPECT_TRUE(Same("half", "half2"));
  EXPECT_FALSE(Same("half", "half3"));
}

TEST_F(Shapes, ArithmeticOnShapesIsFollowed) {
  Load(R"(
    %x = Placeholder() {shape=<?,?,6>}
    %s = Shape(%x) {out_type=int32}
    %split = Const() {value=int32<3>{-1, 2, 3}}
    %r = Reshape(%x, %split)
    %back = Reshape(%r, %s)
  )");
  EXPECT_TRUE(Same("x", "back"));
  EXPECT_FALSE(Same("x", "r"));
}

}  // namespace
}  // namespace tenon
