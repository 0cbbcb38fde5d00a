// The rounding errors of long sums, against float64: with one accumulator for all terms they would
// grow with the square root of the length. docs/NUMERICS.md compares them with TensorFlow's.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "kernels/elementwise/elementwise.h"
#include "kernels/matmul/blocked_product_simd.h"
#include "tests/unit/kernels/nn_test_util.h"

namespace tenon {
namespace {

using Doubles = std::vector<double>;

// The root mean square of the differences over that of `want`.
double RmsError(const float* got, const Doubles& want) {
  double difference = 0, size = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    const double d = static_cast<double>(got[i]) - want[i];
    difference += d * d;
    size += want[i] * want[i];
  }
  return std::sqrt(difference / size);
}

// a[m, k] * b[k, n] in double, and in float by parts of 256 terms.
struct Products {
  Doubles exact;
  std::vector<float> in_parts;
};
Products Multiply(const Tensor& a, const Tensor& b) {
  const int64_t m = a.shape()[0], k = a.shape()[1], n = b.shape()[1];
  Products p;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double exact = 0;
      float total = 0, part = 0;
      for (int64_t t = 0; t < k; ++t) {
        const float x = a.data<float>()[i * k + t], y = b.data<float>()[t * n + j];
        exact += static_cast<double>(x) * static_cast<double>(y);
        part = std::fma(x, y, part);
        if (t % 256 == 255 || t == k - 1) total += std::exchange(part, 0.0f);
      }
      p.exact.push_back(exact);
      p.in_parts.push_back(total);
    }
  }
  return p;
}

struct ProductCase {
  const char* name;
  int64_t m, k, n;
  bool constant;
  bool accelerated;
};

void PrintTo(const ProductCase& c, std::ostream* os) { *os << c.name; }

class LongProducts : public testing::TestWithParam<ProductCase> {};

TEST_P(LongProducts, RoundLikeSumsInParts) {
  const ProductCase& c = GetParam();
  if (c.m == 1 && c.constant && VectorTargetName() == std::string("SSE4")) {
    GTEST_SKIP() << "without AVX2, oneDNN's loop for one row has one accumulator";
  }
  const Tensor a = RandomTensor(DType::kFloat, {c.m, c.k}, 1);
  const Tensor b = RandomTensor(DType::kFloat, {c.k, c.n}, 2);
  const Products want = Multiply(a, b);
  for (int threads : {1, 2}) {
    // A row of weights that are not constant is oneDNN's on several threads.
    if (c.m == 1 && !c.constant && threads > 1) continue;
    NodeRunOptions options{.threads = threads};
    options.tiles = threads;  // 2: on tiles, if the CPU has them
    if (c.constant) options.constants = {1};
    const auto got =
        RunNode(MakeNode(c.accelerated ? "_MklNativeMatMul" : "MatMul", {{"T", DType::kFloat}}),
                {a, b}, options);
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_LE(RmsError(got->outputs[0].data<float>(), want.exact),
              1.2 * RmsError(want.in_parts.data(), want.exact))
        << got->implementation << ", " << threads << " threads";
  }
}

INSTANTIATE_TEST_SUITE_P(MatMul, LongProducts,
                         testing::Values(ProductCase{"OneRow", 1, 6144, 300, true, true},
                                         ProductCase{"OneRowOfNineColumns", 1, 6144, 9, true, true},
                                         ProductCase{"FewRows", 5, 6144, 100, true, true},
                                         ProductCase{"ManyRows", 40, 6144, 72, true, true},
                                         ProductCase{"RowsOf2KiB", 13, 512, 200, true, true},
                                         ProductCase{"OnePanel", 150, 3000, 9, true, true},
                                         ProductCase{"SmallProduct", 4, 6144, 72, false, true},
                                         ProductCase{"SmallRow", 1, 6144, 300, false, true},
                                         ProductCase{"Column", 150, 6144, 1, true, true},
                                         ProductCase{"VariableColumn", 150, 6144, 1, false, true},
                                         ProductCase{"Reference", 20, 6144, 40, false, false}),
                         [](const auto& info) { return std::string(info.param.name); });

// Products that the blocked loops compute: groups of rows and strips of columns of every size, sums
// of several blocks, and few rows of large weights.
TEST(LongSums, TilesOfEverySize) {
  struct Size {
    int64_t m, k, n;
  };
  std::vector<Size> sizes{{20, 1024, 640}, {49, 768, 700}, {150, 700, 900}};
  for (const int64_t n : {1, 15, 17, 33, 47, 49, 63, 65, 81, 97, 112, 129}) {
    for (const int64_t m : {9, 13, 16, 23}) sizes.push_back({m, 1100, n});
  }
  for (const auto& [m, k, n] : sizes) {
    SCOPED_TRACE(testing::Message() << m << " x " << k << " x " << n);
    const Tensor a = RandomTensor(DType::kFloat, {m, k}, 1);
    const Tensor b = RandomTensor(DType::kFloat, {k, n}, 2);
    const Products want = Multiply(a, b);
    for (int threads : {1, 3}) {
      const auto got = RunNode(MakeNode("_MklNativeMatMul", {{"T", DType::kFloat}}), {a, b},
                               {.threads = threads, .constants = {1}});
      ASSERT_TRUE(got.ok()) << got.status();
      const float* const y = got->outputs[0].data<float>();
      const double size = std::sqrt(static_cast<double>(k));  // elements are within [-1, 1]
      for (size_t i = 0; i < want.exact.size(); ++i) {
        ASSERT_NEAR(y[i], want.exact[i], 2e-6 * size)
            << "element " << i << ", " << got->implementation << ", " << threads << " threads";
      }
    }
  }
}

// Columns may begin in the middle of a panel: where those of tiles do.
TEST(LongSums, ColumnsFromTheMiddleOfAPanel) {
  constexpr size_t kRows = 7, kTerms = 48, kWidth = 64, kPanels = 4;
  const Tensor a = RandomTensor(DType::kFloat, {kRows, kTerms}, 1);
  const Tensor w = RandomTensor(DType::kFloat, {kPanels, kTerms, kWidth}, 2);
  for (const auto& [column, columns] : std::vector<std::pair<size_t, size_t>>{
           {32, 224}, {96, 129}, {160, 96}, {160, 17}, {224, 32}}) {
    SCOPED_TRACE(testing::Message() << columns << " columns from " << column);
    std::vector<float> out(kRows * columns);
    BlockedProduct p;
    p.a = a.data<float>();
    p.a_row = kTerms;
    p.rows = kRows;
    p.column = column;
    p.columns = columns;
    p.terms = kTerms;
    p.w = w.data<float>();
    p.width = kWidth;
    p.panel = kTerms * kWidth;
    p.out = out.data();
    p.out_row = columns;
    FindBlockedLoops().multiply(p);
    for (size_t i = 0; i < kRows; ++i) {
      for (size_t j = 0; j < columns; ++j) {
        const size_t at = column + j;
        double sum = 0;
        for (size_t k = 0; k < kTerms; ++k) {
          sum += double{p.a[i * kTerms + k]} *
                 double{p.w[at / kWidth * p.panel + k * kWidth + at % kWidth]};
        }
        ASSERT_NEAR(out[i * columns + j], sum, 1e-5) << i << ", " << j;
      }
    }
  }
}

TEST(LongSums, WinogradConvolution) {
  // The transforms multiply the errors by about 5, but the sums are of 64 channels, with half the
  // error of 256: 2.5 times, and the roundings of the transforms themselves.
  const Tensor x = RandomTensor(DType::kFloat, {1, 14, 14, 1024}, 1);
  const Tensor w = RandomTensor(DType::kFloat, {3, 3, 1024, 8}, 2);
  const AttrMap attrs{{"T", DType::kFloat},
                      {"strides", std::vector<int64_t>{1, 1, 1, 1}},
                      {"padding", std::string("VALID")}};
  const auto got = RunNode(MakeNode("_MklNativeConv2D", attrs), {x, w}, {.constants = {1}});
  ASSERT_TRUE(got.ok()) << got.status();
  ASSERT_EQ("winograd", got->implementation.substr(0, 8));
  Doubles want;
  std::vector<float> in_parts;
  for (int64_t at = 0; at < 12 * 12; ++at) {
    for (int64_t o = 0; o < 8; ++o) {
      double exact = 0;
      float total = 0, part = 0;
      for (int64_t t = 0; t < 9 * 1024; ++t) {
        const int64_t pixel = (at / 12 + t / 3072) * 14 + at % 12 + t / 1024 % 3;
        const float a = x.data<float>()[pixel * 1024 + t % 1024], b = w.data<float>()[t * 8 + o];
        exact += static_cast<double>(a) * static_cast<double>(b);
        part = std::fma(a, b, part);
        if (t % 256 == 255) total += std::exchange(part, 0.0f);
      }
      want.push_back(exact);
      in_parts.push_back(total);
    }
  }
  EXPECT_LE(RmsError(got->outputs[0].data<float>(), want), 3 * RmsError(in_parts.data(), want));
}

// The rounding of a result itself: half an ulp at most, which is uniformly distributed.
constexpr double kOneRounding = 0x1p-24 / 1.7320508;

TEST(LongSums, Reductions) {
  const Tensor x = RandomTensor(DType::kFloat, {16, 200000}, 3, 1, 2);
  Doubles sums(16);
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    sums[static_cast<size_t>(i / 200000)] += static_cast<double>(x.data<float>()[i]);
  }
  const auto got =
      RunNode(MakeNode("_MklNativeSum",
                       {{"T", DType::kFloat}, {"Tidx", DType::kInt32}, {"keep_dims", false}}),
              {x, Tensor::Vector<int32_t>({1})}, {.constants = {1}});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_LE(RmsError(got->outputs[0].data<float>(), sums), 1.5 * kOneRounding);
}

TEST(LongSums, Softmax) {
  const Tensor x = RandomTensor(DType::kFloat, {4, 200000}, 4, -1, 1);
  Doubles want;
  for (int64_t row = 0; row < 4; ++row) {
    double sum = 0;
    const float* v = x.data<float>() + row * 200000;
    for (int64_t i = 0; i < 200000; ++i) sum += std::exp(static_cast<double>(v[i]));
    for (int64_t i = 0; i < 200000; ++i) want.push_back(std::exp(static_cast<double>(v[i])) / sum);
  }
  const auto got = RunNode(MakeNode("_MklNativeSoftmax", {{"T", DType::kFloat}}), {x}, {});
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_LE(RmsError(got->outputs[0].data<float>(), want), 4 * kOneRounding);
}

TEST(LongSums, Segments) {
  const Tensor x = RandomTensor(DType::kFloat, {4096, 50}, 5);
  Doubles want(50);
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    want[static_cast<size_t>(i % 50)] += static_cast<double>(x.data<float>()[i]);
  }
  std::vector<int32_t> rows(4096);
  std::iota(rows.begin(), rows.end(), 0);
  const auto got = RunNode(
      MakeNode("SparseSegmentSumWithNumSegments", {{"T", DType::kFloat},
                                                   {"Tidx", DType::kInt32},
                                                   {"Tnumsegments", DType::kInt32},
                                                   {"Tsegmentids", DType::kInt32}}),
      {x, Tensor::Vector<int32_t>(rows), Tensor::Vector<int32_t>(std::vector<int32_t>(4096, 0)),
       Tensor::From<int32_t>({}, {1})},
      {.constants = {3}});
  ASSERT_TRUE(got.ok()) << got.status();
  // Of two levels of sums, 32 and 128 long.
  EXPECT_LE(RmsError(got->outputs[0].data<float>(), want), kOneRounding * std::sqrt(32 + 128));
}

}  // namespace
}  // namespace tenon
