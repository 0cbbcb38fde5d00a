// The loops in assembly give the bits of one chain of multiply-adds for each sum.
#include <gtest/gtest.h>

#ifdef __x86_64__
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "graph/tensor.h"
#include "kernels/simd/sums_avx2.h"

namespace tenon {
namespace {

constexpr float kGuard = 123;  // in what must not be written

class SumsAvx2Test : public testing::Test {
 protected:
  void SetUp() override {
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
      GTEST_SKIP() << "this CPU has no AVX2";
    }
  }

  // On a cache line.
  Tensor Numbers(size_t count) {
    Tensor t = *Tensor::Allocate(DType::kFloat, Shape({static_cast<int64_t>(count)}));
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (size_t i = 0; i < count; ++i) t.data<float>()[i] = uniform(random_);
    return t;
  }
  static Tensor Filled(size_t count) {
    Tensor t = *Tensor::Allocate(DType::kFloat, Shape({static_cast<int64_t>(count)}));
    std::fill_n(t.data<float>(), count, kGuard);
    return t;
  }

  using Element = std::function<float(size_t i, size_t j)>;
  // sums[rows][columns] against a(row, term) and w(term, column).
  static void ExpectSums(const float* sums, size_t rows, size_t columns, size_t terms,
                         const Element& a, const Element& w) {
    for (size_t r = 0; r < rows; ++r) {
      for (size_t c = 0; c < columns; ++c) {
        float sum = 0;
        for (size_t k = 0; k < terms; ++k) sum = std::fma(a(r, k), w(k, c), sum);
        ASSERT_EQ(sums[r * columns + c], sum) << "row " << r << ", column " << c;
      }
    }
  }

  // `gap`: floats between groups of 8 terms of a row, as in blocks of channels.
  template <size_t rows>
  void CheckRowSums(size_t steps, size_t a_row, size_t gap, size_t w_row, size_t second) {
    SCOPED_TRACE(testing::Message() << rows << " rows, " << steps << " steps, rows of " << a_row
                                    << ", gaps of " << gap << ", rows of w of " << w_row);
    const size_t terms = steps * RowSums::kStep, group = RowSums::kStep + gap;
    const Tensor a = Numbers((rows - 1) * a_row + steps * group);
    const Tensor w = Numbers(terms * w_row + second + 8);
    Tensor sums = Filled(6 * 16 + 1);
    ComputeRowSums<rows>({.a = a.data<float>(),
                          .a_row = a_row * sizeof(float),
                          .a_step = group * sizeof(float),
                          .w = w.data<float>(),
                          .w_second = w.data<float>() + second,
                          .w_row = w_row * sizeof(float),
                          .ahead = w.data<float>(),
                          .ahead_step = 24,
                          .steps = steps,
                          .sums = sums.data<float>()});
    ExpectSums(
        sums.data<float>(), rows, 16, terms,
        [&](size_t r, size_t k) { return a.data<float>()[r * a_row + k / 8 * group + k % 8]; },
        [&](size_t k, size_t c) {
          return w.data<float>()[k * w_row + c % 8 + (c < 8 ? 0 : second)];
        });
    EXPECT_EQ(sums.data<float>()[6 * 16], kGuard);
  }

 private:
  std::mt19937 random_{3};
};

TEST_F(SumsAvx2Test, RowSums) {
  for (const size_t steps : {1u, 2u, 13u}) {
    const size_t terms = steps * RowSums::kStep;
    CheckRowSums<4>(steps, terms, 0, 16, 8);
    CheckRowSums<5>(steps, terms + 3, 0, 8, 8 * terms);
    CheckRowSums<6>(steps, terms, 0, 8, 8 * terms + 40);
    CheckRowSums<6>(steps, 8, 6 * 8 - 8, 16, 8);
    CheckRowSums<5>(steps, 1, 57, 21, 11);
  }
}

TEST_F(SumsAvx2Test, WideSums) {
  constexpr size_t kRows = 4, kColumns = 24;
  for (const size_t steps : {1u, 2u, 17u}) {
    for (const size_t gap : {0u, 3u}) {
      const size_t terms = steps * WideSums::kStep;
      const Tensor w = Numbers(terms * kColumns);
      const auto weight = [&](size_t k, size_t c) { return w.data<float>()[k * kColumns + c]; };
      const size_t row = terms + gap, term = kRows + gap;
      const Tensor by_row = Numbers(kRows * row), by_term = Numbers(terms * term);
      Tensor sums = Filled(kRows * kColumns + 1);
      WideSums s{.a = by_row.data<float>(),
                 .a_stride = row * sizeof(float),
                 .w = w.data<float>(),
                 .steps = steps,
                 .sums = sums.data<float>()};
      ComputeWideSumsOfRows(s);
      ExpectSums(
          sums.data<float>(), kRows, kColumns, terms,
          [&](size_t r, size_t k) { return by_row.data<float>()[r * row + k]; }, weight);
      s.a = by_term.data<float>();
      s.a_stride = term * sizeof(float);
      ComputeWideSumsOfColumns(s);
      ExpectSums(
          sums.data<float>(), kRows, kColumns, terms,
          [&](size_t r, size_t k) { return by_term.data<float>()[k * term + r]; }, weight);
      EXPECT_EQ(sums.data<float>()[kRows * kColumns], kGuard);
    }
  }
}

}  // namespace
}  // namespace tenon
#endif
