// Staging areas, where TensorFlow would wait, and what they may hold.
#include "kernels/state/staging.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenon {
namespace {

StagedTuple Tuple(std::vector<float> first, std::vector<float> second) {
  return {std::make_shared<const Tensor>(Tensor::Vector<float>(std::move(first))),
          std::make_shared<const Tensor>(Tensor::Vector<float>(std::move(second)))};
}

TEST(StagingArea, FirstInFirstOutWithinItsLimits) {
  StagingArea area;
  const StagingLimits limits = {.tuples = 2, .bytes = 16};
  EXPECT_TRUE(absl::IsUnimplemented(area.Take().status()));
  EXPECT_TRUE(area.Put(Tuple({1}, {2}), limits).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(area.Put(Tuple({1, 2, 3}, {4, 5}), limits)));
  EXPECT_TRUE(absl::IsUnimplemented(area.Put(Tuple({1, 2}, {3}), limits)));
  EXPECT_TRUE(area.Put(Tuple({3}, {4}), limits).ok());
  EXPECT_TRUE(absl::IsUnimplemented(area.Put(Tuple({}, {}), limits)));
  EXPECT_EQ(area.size(), 2);
  ASSERT_TRUE(area.At(1).ok());
  EXPECT_EQ((*area.At(1))[0]->data<float>()[0], 3);
  EXPECT_TRUE(absl::IsUnimplemented(area.At(2).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(area.At(-1).status()));
  EXPECT_EQ((*area.Take())[1]->data<float>()[0], 2);
  EXPECT_TRUE(area.Put(Tuple({1}, {2}), limits).ok());
  area.Clear();
  EXPECT_EQ(area.size(), 0);
  EXPECT_TRUE(area.Put(Tuple({1, 2}, {3, 4}), limits).ok());
}

TEST(StagingMap, TuplesInParts) {
  StagingMap map;
  const StagingLimits none;
  const auto one = [](float x) {
    return StagedTuple{std::make_shared<const Tensor>(Tensor::Scalar<float>(x))};
  };
  EXPECT_TRUE(absl::IsUnimplemented(map.TakeFirst({0}).status()));
  EXPECT_TRUE(map.Put(7, {1}, one(1), 2, none).ok());
  EXPECT_EQ(map.incomplete_size(), 1);
  EXPECT_TRUE(absl::IsUnimplemented(map.Peek(7, {1}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(map.Put(7, {1}, one(2), 2, none)));  // it is there
  EXPECT_TRUE(absl::IsInvalidArgument(map.Put(7, {0}, one(2), 3, none)));  // of another width
  EXPECT_TRUE(map.Put(7, {0}, one(3), 2, none).ok());
  EXPECT_EQ(map.size(), 1);
  EXPECT_EQ(map.incomplete_size(), 0);
  EXPECT_TRUE(absl::IsInvalidArgument(map.Take(7, {2}).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(map.Take(7, {}).status()));
  EXPECT_EQ((*map.Take(7, {1}))[0]->data<float>()[0], 1);
  EXPECT_TRUE(absl::IsInvalidArgument(map.Take(7, {1}).status()));  // it was taken
  const auto rest = map.TakeFirst({0});
  ASSERT_TRUE(rest.ok()) << rest.status();
  EXPECT_EQ((*rest)[0]->data<int64_t>()[0], 7);
  EXPECT_EQ((*rest)[1]->data<float>()[0], 3);
  EXPECT_EQ(map.size(), 0);
}

}  // namespace
}  // namespace tenon
