#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "absl/strings/match.h"
#include "tests/unit/kernels/nn_test_util.h"

namespace tenon {
namespace {

struct DistanceCase {
  const char* name;
  Shape a, b;
  bool accelerated = true;
  const char* implementation = "vector";
};

const DistanceCase kDistances[] = {
    {.name = "pairs", .a = {13, 1, 19}, .b = {1, 37, 19}, .implementation = "all pairs"},
    {.name = "pairs_swapped", .a = {1, 64, 3}, .b = {130, 1, 3}, .implementation = "all pairs"},
    {.name = "pairs_of_vectors", .a = {9, 1, 5}, .b = {33, 5}, .implementation = "all pairs"},
    {.name = "long_sums", .a = {6, 1, 700}, .b = {17, 700}, .implementation = "all pairs"},
    {.name = "one_center", .a = {50, 1, 7}, .b = {1, 1, 7}},
    {.name = "few_points", .a = {2, 1, 40}, .b = {1, 300, 40}},
    {.name = "equal_shapes", .a = {4, 5, 33}, .b = {4, 5, 33}},
    {.name = "one_row", .a = {900}, .b = {900}},
    {.name = "four_dimensions", .a = {2, 5, 1, 9}, .b = {2, 1, 6, 9}},
    {.name = "one_term", .a = {5, 1, 1}, .b = {1, 6, 1}, .accelerated = false},
    {.name = "broadcast_terms", .a = {5, 8}, .b = {5, 1}, .accelerated = false},
    {.name = "no_terms", .a = {5, 0}, .b = {5, 0}, .accelerated = false},
    {.name = "no_centers", .a = {5, 1, 4}, .b = {1, 0, 4}, .implementation = "all pairs"},
    {.name = "no_points", .a = {0, 1, 4}, .b = {1, 3, 4}},
};

class SquaredDistance : public testing::TestWithParam<DistanceCase> {};

TEST_P(SquaredDistance, MatchesReference) {
  const DistanceCase& c = GetParam();
  for (const bool keep_dims : {false, true}) {
    const AttrMap attrs{{"T", DType::kFloat}, {"keep_dims", keep_dims}};
    const std::vector<Tensor> inputs = {RandomTensor(DType::kFloat, c.a, 1),
                                        RandomTensor(DType::kFloat, c.b, 2)};
    const int64_t terms = std::max(c.a[c.a.rank() - 1], int64_t{1});
    for (const int threads : {1, 3}) {
      ExpectNativeMatches("_SquaredDistance", attrs, inputs, {.threads = threads}, terms,
                          c.accelerated);
    }
    const auto got = RunNode(MakeNode("_MklNativeSquaredDistance", attrs), inputs, {});
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(got->accelerated, c.accelerated);
    if (c.accelerated) {
      EXPECT_TRUE(absl::StartsWith(got->implementation, c.implementation)) << got->implementation;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, SquaredDistance, testing::ValuesIn(kDistances),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(SquaredDistanceSpecials, SpoilOnlyTheirOwnResults) {
  Tensor points = RandomTensor(DType::kFloat, {6, 1, 5}, 1);
  Tensor centers = RandomTensor(DType::kFloat, {1, 20, 5}, 2);
  points.data<float>()[2 * 5 + 3] = NAN;
  centers.data<float>()[17 * 5] = INFINITY;
  const AttrMap attrs{{"T", DType::kFloat}};
  const auto got = RunNode(MakeNode("_MklNativeSquaredDistance", attrs), {points, centers}, {});
  ASSERT_TRUE(got.ok()) << got.status();
  for (int64_t i = 0; i < 6; ++i) {
    for (int64_t j = 0; j < 20; ++j) {
      const float x = got->outputs[0].data<float>()[i * 20 + j];
      EXPECT_EQ(std::isnan(x), i == 2) << i << " " << j;
      EXPECT_EQ(std::isinf(x), i != 2 && j == 17) << i << " " << j;
    }
  }
}

}  // namespace
}  // namespace tenon
