// Rotations of columns against plain loops, and the QR iterations that make them against the
// matrices that they take apart.
#include "kernels/linalg/qr_iterations.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/simd/rotations_simd.h"
#include "tests/unit/kernels/support.h"

namespace tenon {
namespace {

using namespace vector_test;

class Rotations : public TargetTest<size_t> {};

template <typename T>
void ExpectRotated(size_t rows) {
  constexpr size_t kNumbers = kColumnBytes / sizeof(T);
  const size_t stride = (rows + kNumbers - 1) / kNumbers * kNumbers;
  std::mt19937 rng(1);
  std::uniform_real_distribution<T> value(-1, 1);
  for (size_t count : {0, 1, 2, 7}) {
    std::vector<T> got((count + 1) * stride), turns(2 * count);
    for (T& v : got) v = value(rng);
    for (T& v : turns) v = value(rng);
    std::vector<T> want = got;
    for (size_t k = 0; k < count; ++k) {
      for (size_t i = 0; i < rows; ++i) {
        T &x = want[k * stride + i], &y = want[(k + 1) * stride + i];
        const T old = x, c = turns[2 * k], s = turns[2 * k + 1];
        x = c * old + s * y;
        y = c * y - s * old;
      }
    }
    FindRotateColumns<T>()(turns.data(), count, got.data(), stride, rows);
    for (size_t k = 0; k <= count; ++k) {
      for (size_t i = 0; i < rows; ++i) {
        ASSERT_NEAR(want[k * stride + i], got[k * stride + i],
                    8 * std::numeric_limits<T>::epsilon())
            << count << " rotations, column " << k << ", row " << i;
      }
    }
  }
}

TEST_P(Rotations, AreThoseOfPlainLoops) {
  ExpectRotated<float>(GetCase());
  ExpectRotated<double>(GetCase());
}
INSTANTIATE_TEST_SUITE_P(Rows, Rotations,
                         testing::Combine(testing::ValuesIn(Targets()),
                                          testing::Values(1, 3, 16, 17, 31, 64, 65, 200)));

using Numbers = std::vector<double>;
using Rows = std::vector<Numbers>;

struct Bands {
  Numbers d, e;
};

std::vector<Bands> Matrices() {
  std::vector<Bands> all = {
      {{}, {}},
      {{-0.5}, {}},
      {{0, 0, 0}, {0, 0}},
      {{0, 0, 0, 0}, {1, 1, 1}},
      {{1, 0, 1, 0.5}, {0.3, 0.7, -1}},
      {{1, 0.5, 0}, {1, 1}},
      {{0, 0.5, 1}, {1, 1}},
      {{1, 1, 1, 1}, {1e-9, 1e-9, 1e-9}},
      {{1, 1e-20, 1e-40, 1e-60}, {1e-10, 1e-30, 1e-50}},
      {{1e-60, 1e-40, 1e-20, 1}, {1e-50, 1e-30, 1e-10}},
      {{1e-30, 1e-30, 1e-30}, {1e-30, 1e-30}},
  };
  std::mt19937 rng(3);
  std::uniform_real_distribution<double> value(-1, 1);
  for (size_t n : {2, 5, 16, 33, 70}) {
    Bands m;
    for (size_t k = 0; k < n; ++k) m.d.push_back(value(rng));
    for (size_t k = 0; k + 1 < n; ++k) m.e.push_back(value(rng));
    all.push_back(m);
  }
  return all;
}

// The columns of `left` times d times those of `right`, transposed, and the columns' own products.
template <typename R>
void ExpectProduct(const Rows& a, const RotatedColumns<R>& left, const Numbers& d,
                   const RotatedColumns<R>& right) {
  const size_t n = d.size();
  const double bound = 4 * std::numeric_limits<R>::epsilon() * static_cast<double>(n + 4);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) {
      double sum = 0, of_columns = 0;
      for (size_t k = 0; k < n; ++k) {
        sum += double{left.column(k)[i]} * d[k] * double{right.column(k)[j]};
        of_columns += double{left.column(i)[k]} * double{left.column(j)[k]};
      }
      ASSERT_NEAR(a[i][j], sum, bound) << i << ", " << j;
      ASSERT_NEAR(i == j ? 1 : 0, of_columns, bound) << i << ", " << j;
    }
  }
}

template <typename R>
void ExpectTakenApart(const Bands& bands) {
  const size_t n = bands.d.size();
  Rows symmetric(n, Numbers(n)), upper = symmetric;
  for (size_t k = 0; k < n; ++k) {
    symmetric[k][k] = upper[k][k] = bands.d[k];
    if (k + 1 < n) symmetric[k][k + 1] = symmetric[k + 1][k] = upper[k][k + 1] = bands.e[k];
  }
  const auto size = static_cast<int64_t>(n);
  Bands b = bands;
  RotatedColumns<R> q(size), u(size), v(size);
  ASSERT_TRUE(DiagonalizeTridiagonal(b.d, b.e, &q));
  ExpectProduct(symmetric, q, b.d, q);
  Bands alone = bands;
  ASSERT_TRUE(DiagonalizeTridiagonal<R>(alone.d, alone.e, nullptr));
  EXPECT_EQ(alone.d, b.d);

  b = bands;
  ASSERT_TRUE(DiagonalizeBidiagonal(b.d, b.e, &u, &v));
  ExpectProduct(upper, u, b.d, v);
  for (double value : b.d) EXPECT_GE(value, 0);
  alone = bands;
  ASSERT_TRUE(DiagonalizeBidiagonal<R>(alone.d, alone.e, nullptr, nullptr));
  EXPECT_EQ(alone.d, b.d);
}

TEST(QrIterations, TakeMatricesApart) {
  int number = 0;
  for (const Bands& bands : Matrices()) {
    SCOPED_TRACE(number++);
    ExpectTakenApart<float>(bands);
    ExpectTakenApart<double>(bands);
  }
}

TEST(QrIterations, OfNanEnd) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Numbers d = {1, nan, 1}, e = {1, 1};
  EXPECT_FALSE(DiagonalizeTridiagonal<float>(d, e, nullptr));
  d = {1, nan, 1};
  e = {1, 1};
  EXPECT_FALSE(DiagonalizeBidiagonal<float>(d, e, nullptr, nullptr));
}

}  // namespace
}  // namespace tenon
