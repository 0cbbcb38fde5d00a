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

// Positions are often floats: their number comes from a shape all the same.
TEST_F(Shapes, LengthsOfFloatsAreFollowed) {
  Load(R"(
    %x = Placeholder() {shape=<?,6>}
    %other = Placeholder() {shape=<>}
    %s = Shape(%x) {out_type=int32}
    %zero = Const() {value=int32<1>{0}}
    %one = Const() {value=int32<1>{1}}
    %n = StridedSlice(%s, %zero, %one, %one) {shrink_axis_mask=1}
    %f = Cast(%n) {SrcT=int32, DstT=float}
    %start = Const() {value=float<>{0}}
    %step = Const() {value=float<>{1}}
    %half = Const() {value=float<>{0.5}}
    %r = Range(%start, %f, %step) {Tidx=float}
    %axis = Const() {value=int32<>{1}}
    %column = ExpandDims(%r, %axis)
    %twice = Range(%start, %f, %half) {Tidx=float}
    %column2 = ExpandDims(%twice, %axis)
    %fed = Range(%start, %other, %step) {Tidx=float}
    %column3 = ExpandDims(%fed, %axis)
  )");
  EXPECT_TRUE(Into("column", "x"));
  EXPECT_FALSE(Into("column2", "x"));
  EXPECT_FALSE(Into("column3", "x"));
}

TEST_F(Shapes, KnownPartsOfAGivenShapeAreDimensions) {
  Load(R"(
    %x = Placeholder() {shape=<?,?,6>}
    %s = Shape(%x) {out_type=int32}
    %zero = Const() {value=int32<1>{0}}
    %one = Const() {value=int32<1>{1}}
    %two = Const() {value=int32<1>{2}}
    %n = StridedSlice(%s, %zero, %one, %one) {shrink_axis_mask=1}
    %m = StridedSlice(%s, %one, %two, %one) {shrink_axis_mask=1}
    %heads = Const() {value=int32<>{2}}
    %width = Const() {value=int32<>{3}}
    %rest = Const() {value=int32<>{-1}}
    %shape = Pack(%n, %m, %heads, %width) {axis=0}
    %y = Reshape(%x, %shape)
    %open = Pack(%n, %rest, %heads, %width) {axis=0}
    %z = Reshape(%x, %open)
    %value = Const() {value=float<>{1}}
    %f = Fill(%shape, %value)
    %flat = Const() {value=int32<1>{-1}}
    %row = Reshape(%x, %flat)
    %back = Reshape(%row, %s)
  )");
  EXPECT_EQ(info_->shape(At("y")), Shape({-1, -1, 2, 3}));
  EXPECT_EQ(info_->shape(At("z")), Shape({-1, -1, 2, 3}));
  EXPECT_EQ(info_->shape(At("f")), Shape({-1, -1, 2, 3}));
  EXPECT_EQ(info_->shape(At("back")), Shape({-1, -1, 6}));
}

}  // namespace
}  // namespace tenon
