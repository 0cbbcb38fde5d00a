// Where and TopKV2 against plain loops, at sizes at which they share work among threads or skip
// most of a row.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "tests/unit/ops/run_op.h"

namespace tenon {
namespace {

TEST(Where, GivesTheCoordinatesOfEachRank) {
  for (const Shape& shape : {Shape({}), Shape({1}), Shape({20000}), Shape({3, 5}),
                             Shape({130, 151}), Shape({9, 1, 2500}), Shape({5, 7, 11, 90}),
                             Shape({3, 2, 4, 5, 200}), Shape({0, 4}), Shape({4, 0})}) {
    const int64_t n = shape.num_elements();
    for (const unsigned one_in : {1u, 2u, 100u, 0u}) {
      std::mt19937 random(7 + one_in);
      Tensor x = *Tensor::Allocate(DType::kFloat, shape);
      std::vector<int64_t> want;
      int64_t count = 0;
      for (int64_t i = 0; i < n; ++i) {
        const bool set = one_in > 0 && random() % one_in == 0;
        x.data<float>()[i] = set ? -0.5f : -0.0f;
        if (!set) continue;
        ++count;
        std::vector<int64_t> at;
        for (int64_t d = shape.rank(), rest = i; d-- > 0; rest /= shape.dim(static_cast<int>(d))) {
          at.push_back(rest % shape.dim(static_cast<int>(d)));
        }
        want.insert(want.end(), at.rbegin(), at.rend());
      }
      for (const int threads : {1, 2, 5}) {
        const auto got = RunOp("Where", {{"T", DType::kFloat}}, {x}, threads);
        ASSERT_TRUE(got.ok()) << got.status();
        ASSERT_EQ((*got)[0].shape(), Shape({count, shape.rank()})) << shape.ToString();
        EXPECT_TRUE(std::equal(want.begin(), want.end(), (*got)[0].data<int64_t>()))
            << shape.ToString() << ", one in " << one_in << ", " << threads << " threads";
      }
    }
  }
}

// Rows of each kind: random, of few values, descending, ascending, of NaN and infinities.
std::vector<float> Row(int64_t n, int kind) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float special[] = {std::numeric_limits<float>::quiet_NaN(), kInfinity, -kInfinity, 0.0f,
                           -0.0f};
  std::mt19937 random(static_cast<unsigned>(n) * 8 + static_cast<unsigned>(kind));
  std::vector<float> row(static_cast<size_t>(n));
  for (size_t i = 0; i < row.size(); ++i) {
    const auto r = static_cast<float>(random() % 100000);
    const auto at = static_cast<float>(i);
    row[i] = kind == 0   ? r
             : kind == 1 ? std::fmod(r, 4)
             : kind == 2 ? -at
             : kind == 3 ? at
                         : special[random() % (kind == 4 ? 5 : 1)];
  }
  return row;
}

TEST(TopK, TakesTheFirstLargestOfLongRows) {
  for (const auto& [n, k] : std::vector<std::pair<int64_t, int64_t>>{
           {5, 1}, {64, 4}, {1000, 1}, {1000, 128}, {1000, 129}, {5000, 50}, {33, 8}, {40, 40}}) {
    for (int kind = 0; kind < 6; ++kind) {
      const std::vector<float> row = Row(n, kind);
      std::vector<int64_t> want(row.size());
      std::iota(want.begin(), want.end(), 0);
      // A NaN counts as larger than all numbers.
      std::stable_sort(want.begin(), want.end(), [&](int64_t a, int64_t b) {
        const float x = row[static_cast<size_t>(a)], y = row[static_cast<size_t>(b)];
        return std::isnan(x) ? !std::isnan(y) : x > y;
      });
      const Tensor x = Tensor::From<float>(Shape({1, n}), row);
      const auto got = RunOp("TopKV2", {{"T", DType::kFloat}},
                             {x, Tensor::Scalar<int32_t>(static_cast<int32_t>(k))});
      ASSERT_TRUE(got.ok()) << got.status();
      for (int64_t i = 0; i < k; ++i) {
        const int32_t index = (*got)[1].data<int32_t>()[i];
        ASSERT_EQ(index, want[static_cast<size_t>(i)]) << k << " of " << n << ", kind " << kind;
        const float value = (*got)[0].data<float>()[i];
        ASSERT_EQ(0, std::memcmp(&value, &row[static_cast<size_t>(index)], sizeof value));
      }
    }
  }
}

TEST(TopK, OfOtherDTypes) {
  std::vector<uint8_t> bytes(500);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * 37);
  std::vector<int32_t> ints(bytes.begin(), bytes.end());
  for (int32_t& i : ints) i = (i - 128) * 10000000;
  for (const Tensor& x :
       {Tensor::From<uint8_t>(Shape({500}), bytes), Tensor::From<int32_t>(Shape({500}), ints)}) {
    const auto got = RunOp("TopKV2", {{"T", x.dtype()}}, {x, Tensor::Scalar<int32_t>(3)});
    ASSERT_TRUE(got.ok()) << got.status();
    // 255 = 83 * 37 mod 256, and again 256 elements later; then 254.
    const int32_t* const at = (*got)[1].data<int32_t>();
    EXPECT_EQ(bytes[static_cast<size_t>(at[0])], 255) << Name(x.dtype());
    EXPECT_EQ(at[1], at[0] + 256) << Name(x.dtype());
    EXPECT_EQ(bytes[static_cast<size_t>(at[2])], 254) << Name(x.dtype());
  }
}

}  // namespace
}  // namespace tenon
