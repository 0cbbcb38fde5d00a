// Products of floats on matrix tiles (AMX), compared with sums in double.
#include "kernels/matmul/tile_product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/contraction/finite_guard.h"
#include "tests/unit/kernels/nn_test_util.h"

namespace tenon {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Sizes {
  size_t rows, terms, columns;
};
void PrintTo(const Sizes& s, std::ostream* os) {
  *os << s.rows << "x" << s.terms << "x" << s.columns;
}

class TileProductTest : public testing::TestWithParam<Sizes> {
 protected:
  void SetUp() override {
    if (!HasTileProducts()) GTEST_SKIP() << "this CPU has no matrix tiles";
  }
};

// On a cache line, full of NaN.
Tensor Scratch(size_t bytes) {
  Tensor t = *Tensor::Allocate(DType::kFloat, Shape({static_cast<int64_t>(bytes / 4)}));
  std::fill_n(t.data<float>(), bytes / 4, kNaN);
  return t;
}

TEST_P(TileProductTest, SumsProducts) {
  const auto [rows, terms, columns] = GetParam();
  constexpr size_t kWidth = 48, kLeftOut = 32, kGap = 3;
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  const size_t panels = (kLeftOut + columns + kWidth - 1) / kWidth;
  std::vector<float> a(rows * (terms + kGap) - kGap, kNaN), w(panels * terms * kWidth);
  for (size_t i = 0; i < rows; ++i) {
    for (size_t k = 0; k < terms; ++k) {
      // Of very different magnitudes, with all 24 bits.
      a[i * (terms + kGap) + k] = std::ldexp(uniform(random), static_cast<int>(random() % 40) - 20);
    }
  }
  for (float& x : w) x = uniform(random);
  const auto weight = [&](size_t k, size_t j) {
    j += kLeftOut;
    return w[j / kWidth * terms * kWidth + k * kWidth + j % kWidth];
  };

  Tensor parts = Scratch(TileRowsBytes(rows, terms)), scratch = Scratch(TileProductScratch(rows));
  std::vector<uint32_t> largest(rows, 0);
  TileProduct p;
  p.a = {static_cast<uint16_t*>(parts.raw()), rows, terms};
  const size_t first = terms / 2 / kTileTerms * kTileTerms;  // in two pieces
  if (first > 0) SplitRows(a.data(), terms + kGap, 0, first, p.a, largest.data());
  SplitRows(a.data() + first, terms + kGap, first, terms - first, p.a, largest.data());
  EXPECT_EQ(std::count_if(largest.begin(), largest.end(), IsInexactOnTiles), 0);

  std::vector<float> bias(columns), addend(rows * (columns + kGap));
  for (float& x : bias) x = uniform(random);
  for (float& x : addend) x = uniform(random);
  p.w = w.data();
  p.width = kWidth;
  p.panel = terms * kWidth;
  p.column = kLeftOut;
  p.columns = columns;
  p.out_row = columns + kGap;
  p.scratch = scratch.raw();
  for (const bool add : {false, true}) {
    std::vector<float> out(rows * (columns + kGap), 5.0f);
    p.add = add;
    p.out = out.data();
    if (add) p.finish = {bias.data(), addend.data(), true, true};
    MultiplyTiles(p);
    for (size_t i = 0; i < rows; ++i) {
      for (size_t j = 0; j < columns + kGap; ++j) {
        const float got = out[i * (columns + kGap) + j];
        if (j >= columns) {
          ASSERT_EQ(got, 5.0f) << "written past row " << i;
          continue;
        }
        double sum = 0, size = 0;
        for (size_t k = 0; k < terms; ++k) {
          const double term =
              static_cast<double>(a[i * (terms + kGap) + k]) * static_cast<double>(weight(k, j));
          sum += term;
          size += std::abs(term);
        }
        if (add) {
          const double more = 5.0 + static_cast<double>(bias[j]) +
                              static_cast<double>(addend[i * (columns + kGap) + j]);
          sum = std::clamp(sum + more, 0.0, 6.0);
          size += std::abs(more);
        }
        // Half a unit for each of the roundings, of which there are one for two terms and a few.
        const double roundings = static_cast<double>(terms) / 2 + 8;
        ASSERT_NEAR(got, sum, size * roundings * 6e-8) << i << ", " << j;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, TileProductTest,
                         testing::Values(Sizes{1, 1, 1}, Sizes{1, 33, 16}, Sizes{15, 31, 17},
                                         Sizes{16, 32, 32}, Sizes{17, 97, 33}, Sizes{33, 95, 48},
                                         Sizes{48, 64, 15}, Sizes{50, 200, 100},
                                         Sizes{208, 1024, 40}),
                         testing::PrintToStringParamName());

TEST(TileProducts, RowsWithSpecialValuesAreInexact) {
  if (!HasTileProducts()) GTEST_SKIP() << "this CPU has no matrix tiles";
  const std::vector<float> values = {0,     1,     kNaN,   kInfinity, -kInfinity,
                                     2e20f, 1e20f, -1e20f, 1e-38f,    2e-10f};
  const std::vector<uint8_t> want = {0, 0, 1, 1, 1, 1, 0, 0, 1, 0};
  const size_t rows = values.size(), terms = 40;
  std::vector<float> a(rows * terms, 0.0f);
  for (size_t i = 0; i < rows; ++i) a[i * terms + 35] = values[i];
  Tensor parts = Scratch(TileRowsBytes(rows, terms));
  std::vector<uint32_t> largest(rows, 0);
  const TileRows to{static_cast<uint16_t*>(parts.raw()), rows, terms};
  SplitRows(a.data(), terms, 0, 32, to, largest.data());
  SplitRows(a.data() + 32, terms, 32, terms - 32, to, largest.data());
  std::vector<uint8_t> inexact;
  for (const uint32_t bits : largest) inexact.push_back(IsInexactOnTiles(bits) ? 1 : 0);
  EXPECT_EQ(inexact, want);
}

TEST(TileProducts, TinyColumns) {
  std::vector<float> w(3 * 16, 0.0f);
  EXPECT_FALSE(HasTinyColumn(w.data(), 3, 10, 16, 3 * 16));
  w[16 + 10] = 1e-36f;  // of no column
  EXPECT_FALSE(HasTinyColumn(w.data(), 3, 10, 16, 3 * 16));
  w[16 + 9] = -1e-36f;
  EXPECT_TRUE(HasTinyColumn(w.data(), 3, 10, 16, 3 * 16));
  w[2 * 16 + 9] = 1;
  EXPECT_FALSE(HasTinyColumn(w.data(), 3, 10, 16, 3 * 16));
}

// Rows with special values have the results of vector code; the others keep their bits, which do
// not depend on the number of threads.
void CheckSpecialRows(const Node& node, std::vector<Tensor> inputs, const std::string& tiles,
                      const std::vector<std::pair<int64_t, float>>& specials,
                      const std::vector<int64_t>& rows_with_specials) {
  const int64_t n = inputs[1].shape()[inputs[1].shape().rank() - 1];
  const auto run = [&](int64_t use, int threads) {
    return RunNode(node, inputs, {.threads = threads, .tiles = use, .constants = {1}});
  };
  const auto plain = run(2, 2);
  ASSERT_TRUE(plain.ok()) << plain.status();
  ASSERT_EQ(plain->implementation, tiles);
  for (const auto& [at, value] : specials) inputs[0].data<float>()[at] = value;
  const auto want = run(0, 2);
  ASSERT_TRUE(want.ok()) << want.status();
  EXPECT_NE(want->implementation, tiles);
  const int64_t m = want->outputs[0].num_elements() / n;
  for (const int threads : {1, 2, 4}) {
    const auto got = run(2, threads);
    ASSERT_TRUE(got.ok()) << got.status();
    for (int64_t i = 0; i < m; ++i) {
      const float* const row = got->outputs[0].data<float>() + i * n;
      if (std::count(rows_with_specials.begin(), rows_with_specials.end(), i) == 0) {
        ASSERT_EQ(std::memcmp(row, plain->outputs[0].data<float>() + i * n,
                              static_cast<size_t>(n) * sizeof(float)),
                  0)
            << i;
        continue;
      }
      const float* const exact = want->outputs[0].data<float>() + i * n;
      float size = 0;
      for (int64_t j = 0; j < n; ++j) {
        if (std::isfinite(exact[j])) size = std::max(size, std::abs(exact[j]));
      }
      for (int64_t j = 0; j < n; ++j) {
        if (std::isfinite(exact[j])) {
          ASSERT_NEAR(row[j], exact[j], 1e-5f * size) << i << ", " << j;
        } else {
          ASSERT_EQ(std::isnan(row[j]), std::isnan(exact[j])) << i << ", " << j;
          ASSERT_FALSE(std::isfinite(row[j])) << i << ", " << j;
        }
      }
    }
  }
}

TEST(TileKernels, SpecialValuesStayInTheirRow) {
  if (!HasTileProducts()) GTEST_SKIP() << "this CPU has no matrix tiles";
  const int64_t m = 70, k = 1500, n = 300;
  const Tensor bias = RandomTensor(DType::kFloat, {n}, 3);
  const Tensor addend = RandomTensor(DType::kFloat, {m, n}, 4);
  const Tensor a = RandomTensor(DType::kFloat, {m, k}, 1),
               w = RandomTensor(DType::kFloat, {k, n}, 2);
  const std::vector<std::pair<int64_t, float>> specials = {{17 * k + 3, kNaN},
                                                           {18 * k + 1400, kInfinity},
                                                           {19 * k + 5, 3e38f},
                                                           {69 * k + 7, -kInfinity}};
  using Chain = std::vector<std::string>;
  for (const Chain& chain : {Chain{"BiasAdd", "Relu"}, Chain{"BiasAdd", "Add", "Relu6"},
                             Chain{"BiasAdd", "Tanh", "Add"}, Chain{"BiasAdd", "GeluExact"}}) {
    std::vector<Tensor> inputs = {*a.Clone(), w, bias};
    if (std::count(chain.begin(), chain.end(), "Add") > 0) inputs.push_back(addend);
    const Node node =
        MakeNode("_MklNativeFusedMatMul", {{"T", DType::kFloat},
                                           {"num_args", static_cast<int64_t>(inputs.size()) - 2},
                                           {"fused_ops", chain}});
    SCOPED_TRACE(chain.back());
    CheckSpecialRows(node, std::move(inputs), "tiles", specials, {17, 18, 19, 69});
  }
}

TEST(TileKernels, RowsOfTinyNumbersAreExact) {
  if (!HasTileProducts()) GTEST_SKIP() << "this CPU has no matrix tiles";
  const int64_t k = 64, n = 40;
  Tensor a = RandomTensor(DType::kFloat, {33, k}, 1), w = RandomTensor(DType::kFloat, {k, n}, 2);
  const Node node = MakeNode("_MklNativeMatMul", {{"T", DType::kFloat}});
  for (int64_t t = 0; t < k; ++t) a.data<float>()[20 * k + t] *= 1e-34f;
  const auto got = RunNode(node, {a, w}, {.tiles = 2, .constants = {1}});
  const auto want = RunNode(node, {a, w}, {.tiles = 0, .constants = {1}});
  ASSERT_TRUE(got.ok() && want.ok());
  ASSERT_EQ(got->implementation, "tiles");
  for (int64_t j = 0; j < n; ++j) {
    const float exact = want->outputs[0].data<float>()[20 * n + j];
    EXPECT_NEAR(got->outputs[0].data<float>()[20 * n + j], exact, 1e-38f) << j;
  }
  // Weights with a NaN, an infinity or a huge number are not multiplied on tiles at all.
  for (const float special : {kNaN, kInfinity, 1e20f}) {
    w.data<float>()[n + 1] = special;
    EXPECT_NE(RunNode(node, {a, w}, {.tiles = 2, .constants = {1}})->implementation, "tiles");
  }
}

TEST(TileKernels, SpecialValuesStayInTheirWindows) {
  if (!HasTileProducts()) GTEST_SKIP() << "this CPU has no matrix tiles";
  const int64_t size = 21, channels = 48, filters = 56;
  const Node node = MakeNode("_MklNativeFusedConv2D",
                             {{"T", DType::kFloat},
                              {"num_args", int64_t{1}},
                              {"strides", std::vector<int64_t>{1, 2, 2, 1}},
                              {"padding", std::string("SAME")},
                              {"fused_ops", std::vector<std::string>{"BiasAdd", "Relu"}}});
  // The pixel (4, 4) is in the window of output (2, 2) alone.
  CheckSpecialRows(node,
                   {RandomTensor(DType::kFloat, {1, size, size, channels}, 1),
                    RandomTensor(DType::kFloat, {3, 3, channels, filters}, 2),
                    RandomTensor(DType::kFloat, {filters}, 3)},
                   "gathered tiles", {{(4 * size + 4) * channels + 5, kInfinity}}, {2 * 11 + 2});
}

}  // namespace
}  // namespace tenon
