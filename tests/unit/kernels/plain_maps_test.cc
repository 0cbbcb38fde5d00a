// Clipping, counts of bits, shifts, comparisons, casts, and running sums in the logarithmic domain
// on each instruction set, against plain computations, with sizes that are no multiples of vectors.
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "kernels/elementwise/plain_loops_simd.h"
#include "kernels/elementwise/plain_maps_simd.h"
#include "kernels/interface/float_to_int.h"
#include "kernels/interface/types.h"
#include "tests/unit/kernels/nn_test_util.h"
#include "tests/unit/kernels/support.h"

namespace tenon {
namespace {

using namespace vector_test;

class PlainMaps : public TargetTest<int> {  // the number of elements
 protected:
  size_t n() const { return static_cast<size_t>(GetCase()); }
};

template <typename T>
void ExpectClipped(const std::vector<T>& x, T low, T high) {
  for (int form = 0; form < 4; ++form) {
    std::vector<T> lows(x.size() + 1, low), highs(x.size() + 1, high);
    for (size_t i = 1; i < x.size(); i += 3) {
      if (form & 1) lows[i] = T(11);
      if (form & 2) highs[i] = T(-3);
    }
    std::vector<T> got(x.size() + 1, T(7));
    const ClipBounds<T> bounds = {lows.data(), highs.data(), form & 1 ? 1u : 0u,
                                  form & 2 ? 1u : 0u};
    FindClip<T>()(x.data(), bounds, got.data(), x.size());
    EXPECT_EQ(got.back(), T(7));
    for (size_t i = 0; i < x.size(); ++i) {
      const T lowered = highs[i] < x[i] ? highs[i] : x[i];
      const T want = lowered < lows[i] ? lows[i] : lowered;
      EXPECT_EQ(std::memcmp(&got[i], &want, sizeof(T)), 0) << x[i] << ": " << got[i];
    }
  }
}

TEST_P(PlainMaps, ClipsInOrder) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> value(-100, 100);
  std::vector<float> floats(n());
  for (size_t i = 0; i < n(); ++i) {
    floats[i] = i % 5 == 2 ? kNaN : i % 5 == 3 ? -0.0f : static_cast<float>(value(random));
  }
  std::vector<int64_t> longs(n());
  for (int64_t& v : longs) v = static_cast<int64_t>(value(random) * 1e16);
  for (const float low : {-10.0f, 0.0f, 50.0f, kNaN}) {
    ExpectClipped<float>(floats, low, 20);
    ExpectClipped<double>(std::vector<double>(floats.begin(), floats.end()), low, 20);
  }
  ExpectClipped<int64_t>(longs, -300000000000000000, 1000);
  ExpectClipped<int32_t>(std::vector<int32_t>(longs.begin(), longs.end()), -1000000, 2000000000);
}

TEST_P(PlainMaps, DivideIntegers) {
  constexpr int32_t kLow = std::numeric_limits<int32_t>::min();
  std::mt19937 random(3);
  std::vector<int32_t> a(n()), b(n());
  for (size_t i = 0; i < n(); ++i) {
    a[i] = i % 7 == 0 ? kLow : static_cast<int32_t>(random()) >> (i % 29);
    b[i] = i % 5 == 0   ? -1
           : i % 5 == 1 ? static_cast<int32_t>(random())
                        : (static_cast<int32_t>(random()) >> 28) | 1;
    if (b[i] == 0) b[i] = kLow;
  }
  for (size_t b_step : {1u, 0u}) {
    for (const auto op : {PlainBinary::kTruncatedQuotient, PlainBinary::kFloorQuotient,
                          PlainBinary::kTruncatedRemainder, PlainBinary::kFloorRemainder}) {
      std::vector<int32_t> got(n() + 1, 7);
      FindPlainBinary(op)(a.data(), 1, b.data(), b_step, got.data(), n());
      EXPECT_EQ(got.back(), 7);
      for (size_t i = 0; i < n(); ++i) {
        const int64_t x = a[i], y = b[i * b_step];
        const int64_t floored = (x / y) - (x % y != 0 && (x % y < 0) != (y < 0) ? 1 : 0);
        const int64_t want = op == PlainBinary::kTruncatedQuotient    ? x / y
                             : op == PlainBinary::kFloorQuotient      ? floored
                             : op == PlainBinary::kTruncatedRemainder ? x % y
                                                                      : x - floored * y;
        EXPECT_EQ(got[i], static_cast<int32_t>(want)) << x << " / " << y;
      }
    }
  }
}

TEST_P(PlainMaps, MultiplyNoNan) {
  std::vector<float> a(n()), b(n()), got(n() + 1, 7);
  for (size_t i = 0; i < n(); ++i) {
    a[i] = i % 3 == 0 ? kNaN : i % 3 == 1 ? kInf : static_cast<float>(i);
    b[i] = i % 4 == 0 ? 0.0f : i % 4 == 1 ? -0.0f : i % 8 == 2 ? kNaN : 2.0f;
  }
  FindPlainBinary(PlainBinary::kMulNoNan)(a.data(), 1, b.data(), 1, got.data(), n());
  EXPECT_EQ(got.back(), 7);
  for (size_t i = 0; i < n(); ++i) {
    const float want = b[i] == 0 ? 0 : a[i] * b[i];
    EXPECT_TRUE(got[i] == want || (std::isnan(got[i]) && std::isnan(want))) << i;
  }
}

template <typename T>
void ExpectBits(size_t n) {
  std::mt19937_64 random(4);
  std::vector<T> x(n);
  for (size_t i = 0; i < n; ++i)
    x[i] = i % 5 == 1 ? static_cast<T>(~T(0)) : static_cast<T>(random());
  std::vector<uint8_t> got(n + 1, 99);
  FindCountBits(sizeof(T))(x.data(), got.data(), n);
  EXPECT_EQ(got.back(), 99);
  for (size_t i = 0; i < n; ++i) EXPECT_EQ(got[i], std::popcount(x[i])) << sizeof(T) << ", " << i;
}

TEST_P(PlainMaps, CountsBits) {
  ExpectBits<uint8_t>(n());
  ExpectBits<uint16_t>(n());
  ExpectBits<uint32_t>(n());
  ExpectBits<uint64_t>(n());
}

TEST_P(PlainMaps, RunningLogSumsMatchTheReference) {
  const int64_t size = GetCase();
  for (const Shape& shape : {Shape({size}), Shape({3, size}), Shape({size, 3}), Shape({2, size, 5}),
                             Shape({70, size}), Shape({2, size, 131}), Shape({2, size * 7})}) {
    for (int axis = 0; axis < shape.rank(); ++axis) {
      for (int bits = 0; bits < 4; ++bits) {
        SCOPED_TRACE(absl::StrCat(shape.ToString(), " axis ", axis, " form ", bits));
        const DType dtype = bits == 2 ? DType::kDouble : DType::kFloat;
        Tensor x = RandomTensor(dtype, shape, 6, -20, 20);
        if (x.num_elements() > 9 && dtype == DType::kFloat) {
          x.data<float>()[3] = -kInf;
          x.data<float>()[7] = kInf;
          x.data<float>()[9] = kNaN;
        }
        const AttrMap attrs = {{"T", dtype},
                               {"Tidx", DType::kInt32},
                               {"exclusive", (bits & 1) != 0},
                               {"reverse", (bits & 2) != 0}};
        ExpectNativeMatches("CumulativeLogsumexp", attrs, {x, Tensor::Scalar<int32_t>(axis)},
                            {.threads = 1 + bits}, 100, /*must_accelerate=*/false);
      }
    }
  }
}

template <typename Bits>
void ExpectLowestBits(const std::vector<float>& x) {
  std::vector<Bits> got(x.size() + 1, Bits(7));
  FindFloatToBits<Bits>()(x.data(), got.data(), x.size());
  EXPECT_EQ(got.back(), Bits(7));
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(got[i], static_cast<Bits>(FloatToInt<int32_t>(x[i]))) << x[i];
  }
}

TEST_P(PlainMaps, TruncatesFloatsToTheLowestBits) {
  constexpr float kSpecial[] = {kNaN,  kInf,    -kInf,  -0.0f,    127.9f,       128,  255.5f, 256,
                                -1.9f, -128.9f, -32769, 65535.9f, 2147483520.f, 3e9f, -3e9f};
  std::mt19937 random(5);
  std::uniform_real_distribution<float> value(-70000, 70000);
  std::vector<float> x(n());
  for (size_t i = 0; i < n(); ++i) x[i] = i % 3 == 1 ? value(random) : kSpecial[i % 15];
  ExpectLowestBits<uint8_t>(x);
  ExpectLowestBits<uint16_t>(x);
}

// All forms: an operand for each element, or one for all; the result in the place of an operand.
template <typename T, typename R, typename F>
void ExpectPairs(PairMap op, const std::vector<T>& a, const std::vector<T>& b, F want) {
  const PairMapFn map = FindPairMap(op, DTypeTraits<T>::value);
  ASSERT_NE(map, nullptr);
  for (const size_t a_step : {size_t{0}, size_t{1}}) {
    for (const size_t b_step : {size_t{0}, size_t{1}}) {
      std::vector<T> out(a.size(), T(0));
      map(a.data(), a_step, b.data(), b_step, out.data(), a.size());
      for (size_t i = 0; i < a.size(); ++i) {
        R got;
        std::memcpy(&got, reinterpret_cast<const char*>(out.data()) + i * sizeof(R), sizeof(R));
        EXPECT_EQ(got, want(a[i * a_step], b[i * b_step])) << i;
      }
    }
  }
  if constexpr (sizeof(T) == sizeof(R)) {
    std::vector<T> in_place = a;
    map(in_place.data(), 1, b.data(), 1, in_place.data(), a.size());
    for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(in_place[i], want(a[i], b[i])) << i;
  }
}

template <typename T>
void ExpectShifts(size_t n, std::mt19937_64& random) {
  constexpr int kBits = static_cast<int>(sizeof(T) * 8);
  std::vector<T> x(n), counts(n);
  for (size_t i = 0; i < n; ++i) {
    x[i] = static_cast<T>(random());
    counts[i] = static_cast<T>(static_cast<int>(random() % 80) - 8);
  }
  const auto clamped = [](T count) {
    return count < T(0) ? 0 : count > T(kBits - 1) ? kBits - 1 : static_cast<int>(count);
  };
  ExpectPairs<T, T>(PairMap::kLeftShift, x, counts, [&](T v, T count) {
    return static_cast<T>(static_cast<uint64_t>(v) << clamped(count));
  });
  ExpectPairs<T, T>(PairMap::kRightShift, x, counts,
                    [&](T v, T count) { return static_cast<T>(v >> clamped(count)); });
}

TEST_P(PlainMaps, ShiftsByClampedCounts) {
  std::mt19937_64 random(7);
  const auto expect = [&]<typename... T>(TypeList<T...>) { (ExpectShifts<T>(n(), random), ...); };
  expect(Ints());
}

TEST_P(PlainMaps, ComparesSixtyFourBits) {
  std::mt19937_64 random(9);
  std::vector<int64_t> a(n()), b(n());
  std::vector<double> x(n()), y(n());
  for (size_t i = 0; i < n(); ++i) {
    a[i] = static_cast<int64_t>(random());
    b[i] = i % 3 == 0 ? a[i] : static_cast<int64_t>(random());
    x[i] = i % 5 == 1 ? static_cast<double>(kNaN) : static_cast<double>(a[i]);
    y[i] = i % 7 == 1 ? static_cast<double>(kNaN) : static_cast<double>(b[i]);
  }
  const auto compare = [&](PairMap op, auto want) {
    ExpectPairs<int64_t, bool>(op, a, b, want);
    ExpectPairs<double, bool>(op, x, y, want);
  };
  compare(PairMap::kLess, [](auto v, auto w) { return v < w; });
  compare(PairMap::kLessEqual, [](auto v, auto w) { return v <= w; });
  compare(PairMap::kGreater, [](auto v, auto w) { return v > w; });
  compare(PairMap::kGreaterEqual, [](auto v, auto w) { return v >= w; });
}

INSTANTIATE_TEST_SUITE_P(, PlainMaps,
                         testing::Combine(testing::ValuesIn(Targets()),
                                          testing::Values(0, 1, 3, 16, 17, 67, 300)));

}  // namespace
}  // namespace tenon
