#include "graph/shape.h"

#include <gtest/gtest.h>

#include <limits>

namespace tenon {
namespace {

TEST(Shape, ElementsAreCounted) {
  EXPECT_EQ(*Shape().CheckedElements(), 1);
  EXPECT_EQ(*Shape({2, 3, 4}).CheckedElements(), 24);
  EXPECT_EQ(*Shape({2, 0, 4}).CheckedElements(), 0);
  EXPECT_FALSE(Shape({2, -1}).CheckedElements().ok());
  EXPECT_FALSE(Shape::Unknown().CheckedElements().ok());
}

// Ops that look at a subset of the dimensions multiply the dimensions next to an empty one.
TEST(Shape, EmptyOnesMayNotOverflowEither) {
  const int64_t large = int64_t{1} << 40;
  EXPECT_FALSE(Shape({large, large}).CheckedElements().ok());
  EXPECT_FALSE(Shape({0, large, large}).CheckedElements().ok());
  EXPECT_FALSE(Shape({large, large, 0}).CheckedElements().ok());
  EXPECT_EQ(*Shape({large, 0}).CheckedElements(), 0);
  EXPECT_EQ(Shape({large, large}).num_elements(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(Shape({large, large, 0}).num_elements(), 0);
}

}  // namespace
}  // namespace tenon
