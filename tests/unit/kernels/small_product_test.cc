// Small products on every instruction set, compared with sums in double.
#include "kernels/matmul/small_product_simd.h"
#include "tests/unit/kernels/support.h"

namespace tenon {
namespace {

using namespace vector_test;

struct Sizes {
  size_t m, n, k;
};

class SmallProductTest : public TargetTest<Sizes> {};

// The memory ends where the matrix does, so that reads beyond it are detected; `gap` elements of
// NaN separate rows.
std::vector<float> Rows(size_t rows, size_t columns, size_t gap, std::mt19937& random) {
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> all(rows * (columns + gap) - gap, kNaN);
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < columns; ++j) all[i * (columns + gap) + j] = uniform(random);
  }
  return all;
}

TEST_P(SmallProductTest, SumsProducts) {
  const auto [m, n, k] = GetCase();
  std::mt19937 random(7);
  for (const bool transposed : {false, true}) {
    for (const size_t gap : {0, 3}) {
      const std::vector<float> a = transposed ? Rows(k, m, gap, random) : Rows(m, k, gap, random);
      const std::vector<float> b = Rows(k, n, gap, random);
      SmallProduct p{.m = m, .n = n, .k = k, .b_row = n + gap, .out_row = n + gap};
      (transposed ? p.a_column : p.a_row) = (transposed ? m : k) + gap;
      (transposed ? p.a_row : p.a_column) = 1;
      std::vector<float> out(m * (n + gap), 5.0f);  // a gap after the last row too
      FindSmallProduct()(p, a.data(), b.data(), out.data());
      for (size_t i = 0; i < m; ++i) {
        for (size_t j = 0; j < n + gap; ++j) {
          double sum = 0, size = 0;
          for (size_t t = 0; t < k && j < n; ++t) {
            const double term = static_cast<double>(a[i * p.a_row + t * p.a_column]) *
                                static_cast<double>(b[t * p.b_row + j]);
            sum += term;
            size += std::abs(term);
          }
          const double got = static_cast<double>(out[i * p.out_row + j]);
          if (j >= n) {
            EXPECT_EQ(got, 5.0) << "written past row " << i;
          } else {
            // Each of k roundings is at most half a unit of the sum of magnitudes.
            EXPECT_NEAR(got, sum, size * static_cast<double>(k) * 6e-8) << i << ", " << j;
          }
        }
      }
    }
  }
}

// A matrix and a vector, as a column of results and as a row of them. A result does not depend on
// how many others are computed with it.
TEST_P(SmallProductTest, RowsTimesVector) {
  const auto [unused, rows, k] = GetCase();
  std::mt19937 random(7);
  const std::vector<float> vector = Rows(1, k, 0, random);
  for (const size_t gap : {0, 3}) {
    const std::vector<float> matrix = Rows(rows, k, gap, random);
    const SmallProduct column{
        .m = rows, .n = 1, .k = k, .a_row = k + gap, .a_column = 1, .b_row = 1, .out_row = 1};
    const SmallProduct row{
        .m = 1, .n = rows, .k = k, .a_column = 1, .b_row = 1, .b_column = k + gap, .out_row = rows};
    std::vector<float> as_column(rows + 1, 5.0f), as_row(rows, 5.0f), alone(rows, 5.0f);
    FindSmallProduct()(column, matrix.data(), vector.data(), as_column.data());
    EXPECT_EQ(as_column.back(), 5.0f) << "written past the last row";
    as_column.pop_back();
    if (rows > 1) {  // a single row is also a column
      FindSmallProduct()(row, vector.data(), matrix.data(), as_row.data());
      EXPECT_EQ(as_row, as_column);
    }
    SmallProduct one = column;
    one.m = 1;
    for (size_t i = 0; i < rows; ++i) {
      FindSmallProduct()(one, &matrix[i * column.a_row], vector.data(), &alone[i]);
      double sum = 0, size = 0;
      for (size_t t = 0; t < k; ++t) {
        const double term =
            static_cast<double>(matrix[i * column.a_row + t]) * static_cast<double>(vector[t]);
        sum += term;
        size += std::abs(term);
      }
      EXPECT_NEAR(static_cast<double>(as_column[i]), sum, size * static_cast<double>(k) * 6e-8);
    }
    EXPECT_EQ(alone, as_column);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, SmallProductTest,
    testing::Combine(testing::ValuesIn(Targets()),
                     testing::Values(Sizes{1, 1, 1}, Sizes{1, 7, 3}, Sizes{1, 64, 33},
                                     Sizes{1, 100, 16}, Sizes{2, 8, 8}, Sizes{3, 17, 5},
                                     Sizes{5, 33, 9}, Sizes{6, 64, 12}, Sizes{7, 65, 1},
                                     Sizes{8, 8, 8}, Sizes{13, 81, 20}, Sizes{64, 64, 64},
                                     Sizes{3, 1, 37}, Sizes{2, 1, 20001}, Sizes{1, 23, 5000})));

}  // namespace
}  // namespace tenon
