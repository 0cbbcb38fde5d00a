// Random numbers in vector code on each instruction set, against the generator's numbers one by
// one, with any number of elements and of threads.
#include "kernels/random/philox.h"

#include <algorithm>
#include <array>

#include "kernels/random/unit_numbers.h"
#include "tests/unit/kernels/support.h"

namespace tenon {
namespace {

class PhiloxNumbers : public vector_test::TargetTest<int64_t> {  // the number of elements
 protected:
  // Generators whose counters are small, and wrap around soon.
  static std::vector<Philox> Generators() {
    return {Philox::FromSeeds(1, 2), Philox::Of(~uint64_t{0} - 3, 5, 0x123456789abcdef0),
            Philox::Of(~uint64_t{0} - 70000, ~uint64_t{0}, 7)};
  }
  template <typename T>
  std::vector<T> Filled(Distribution distribution, const Philox& generator, int threads) const {
    const int64_t n = GetSize();
    std::vector<T> out(static_cast<size_t>(n) + 1, T(77));
    FillRandom(distribution, DTypeTraits<T>::value, generator, out.data(), n, threads);
    EXPECT_EQ(out.back(), T(77)) << "written past the end";
    out.pop_back();
    return out;
  }
  int64_t GetSize() const { return GetCase(); }
};

template <typename T>
std::vector<T> BlocksOf(Philox generator, size_t n, void (*make)(const uint32_t*, T*)) {
  std::vector<T> out;
  while (out.size() < n) {
    std::array<T, kPerBlock<T>> numbers;
    make(generator.Next().data(), numbers.data());
    out.insert(out.end(), numbers.begin(), numbers.end());
  }
  out.resize(n);
  return out;
}

TEST_P(PhiloxNumbers, UniformNumbersAreThoseOfTheBlocks) {
  const auto n = static_cast<size_t>(GetSize());
  for (const Philox& generator : Generators()) {
    for (const int threads : {1, 3}) {
      const auto kUniform = Distribution::kUniform;
      EXPECT_EQ(Filled<float>(kUniform, generator, threads),
                BlocksOf<float>(generator, n, UniformBlock<float>));
      EXPECT_EQ(Filled<double>(kUniform, generator, threads),
                BlocksOf<double>(generator, n, UniformBlock<double>));
      EXPECT_EQ(Filled<half>(kUniform, generator, threads),
                BlocksOf<half>(generator, n, UniformBlock<half>));
    }
  }
}

TEST_P(PhiloxNumbers, NormalNumbersAreNearThoseOfTheBlocks) {
  const auto n = static_cast<size_t>(GetSize());
  for (const Philox& generator : Generators()) {
    const auto want = BlocksOf<float>(generator, n, NormalBlock<float>);
    const auto got = Filled<float>(Distribution::kNormal, generator, 1);
    EXPECT_EQ(got, Filled<float>(Distribution::kNormal, generator, 3));
    for (size_t i = 0; i < n; ++i) EXPECT_NEAR(got[i], want[i], 2e-6) << i;
    EXPECT_EQ(Filled<double>(Distribution::kNormal, generator, 2),
              BlocksOf<double>(generator, n, NormalBlock<double>));
  }
}

TEST_P(PhiloxNumbers, TruncatedNumbersAreTheFirstWithinTwo) {
  const auto n = static_cast<size_t>(GetSize());
  for (const Philox& generator : Generators()) {
    const auto got = Filled<float>(Distribution::kTruncatedNormal, generator, 1);
    EXPECT_EQ(got, Filled<float>(Distribution::kTruncatedNormal, generator, 3));
    for (size_t i = 0; i < n; i += 4) {
      Philox own = generator;
      own.Skip(i / 4 * 256);
      std::vector<float> want;
      while (want.size() < 4) {
        std::array<float, 4> numbers;
        NormalBlock<float>(own.Next().data(), numbers.data());
        for (const float v : numbers) {
          if (std::abs(v) < 2) want.push_back(v);
        }
      }
      for (size_t k = i; k < std::min(n, i + 4); ++k) EXPECT_NEAR(got[k], want[k - i], 2e-6) << k;
    }
  }
}

TEST_P(PhiloxNumbers, IntegersAreRemainders) {
  const auto n = static_cast<size_t>(GetSize());
  for (const Philox& generator : Generators()) {
    for (const uint64_t range : {0ull, 1ull, 2ull, 100ull, 3000000000ull, 4294967295ull}) {
      std::vector<uint32_t> got(n + 1, 77);
      FillRandomInts(DType::kInt32, generator, 5, range, got.data(), GetSize(), 2);
      EXPECT_EQ(got.back(), 77u) << "written past the end";
      PhiloxStream stream(generator);
      for (size_t i = 0; i < n; ++i) {
        const uint32_t bits = stream.Next(), size = static_cast<uint32_t>(range);
        ASSERT_EQ(got[i], range == 0 ? bits : 5 + bits % size) << i << ", range " << range;
      }
      std::vector<uint64_t> wide(n);
      FillRandomInts(DType::kInt64, generator, 5, range, wide.data(), GetSize(), 2);
      PhiloxStream again(generator);
      for (size_t i = 0; i < n; ++i) {
        const uint64_t bits = again.Next64();
        ASSERT_EQ(wide[i], range == 0 ? bits : 5 + bits % range) << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, PhiloxNumbers,
                         testing::Combine(testing::ValuesIn(vector_test::Targets()),
                                          testing::Values(0, 1, 3, 64, 1023, 1024, 70001)));

}  // namespace
}  // namespace tenon
