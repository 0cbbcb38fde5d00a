// ArgMax and ArgMin over each axis, against a plain loop: ties, NaN, infinities, zeros.
#include "kernels/reduction/arg_reduce.h"

#include <cmath>
#include <random>

#include "gtest/gtest.h"
#include "tests/unit/kernels/support.h"

namespace tenon {
namespace {

using namespace vector_test;

struct Case {
  int64_t outer, n, inner;
  friend void PrintTo(const Case& c, std::ostream* os) {
    *os << c.outer << "x" << c.n << "x" << c.inner;
  }
};

// Few values, so that many are equal; all of them have exact bfloat16 bits.
std::vector<float> Values(size_t n, int seed) {
  static const float kValues[] = {0.0f, -0.0f, 1, -1, 2, -2, kInf, -kInf, kNaN};
  std::mt19937 random(static_cast<unsigned>(seed));
  // By seed: all of them, numbers, negative numbers and NaN, NaN alone.
  static const std::vector<int> kChoices[] = {
      {0, 1, 2, 3, 4, 5, 6, 7, 8}, {0, 1, 2, 3}, {3, 5, 7, 8}, {8}, {7, 8}};
  const std::vector<int>& choices = kChoices[static_cast<size_t>(seed) % std::size(kChoices)];
  std::vector<float> values(n);
  for (float& v : values) v = kValues[choices[random() % choices.size()]];
  return values;
}

int64_t Expected(const std::vector<float>& x, const Case& c, int64_t o, int64_t i, bool largest) {
  const auto at = [&](int64_t k) { return x[static_cast<size_t>((o * c.n + k) * c.inner + i)]; };
  int64_t best = 0;
  for (int64_t k = 1; k < c.n; ++k) {
    const bool better = largest ? at(k) > at(best) : at(k) < at(best);
    if (better || (std::isnan(at(best)) && !std::isnan(at(k)))) best = k;
  }
  return best;
}

class ArgReduceTest : public TargetTest<Case> {};

TEST_P(ArgReduceTest, AgreesWithAPlainLoop) {
  const Case& c = GetCase();
  const Shape shape({c.outer, c.n, c.inner}), out({c.outer, c.inner});
  const Tensor axis = Tensor::Scalar<int32_t>(1);
  for (int seed = 0; seed < 5; ++seed) {
    const std::vector<float> values = Values(static_cast<size_t>(shape.num_elements()), seed);
    Tensor half = *Tensor::Allocate(DType::kBfloat16, shape);
    for (size_t i = 0; i < values.size(); ++i) {
      uint32_t bits;
      std::memcpy(&bits, &values[i], sizeof bits);
      reinterpret_cast<uint16_t*>(half.raw())[i] = static_cast<uint16_t>(bits >> 16);
    }
    for (const Tensor& x : {Tensor::From<float>(shape, values), half}) {
      for (const bool largest : {true, false}) {
        for (const int threads : {1, 2}) {
          const auto got = RunFactory(largest ? VectorArgMax : VectorArgMin, MakeNode("ArgMax"),
                                      {x, axis}, {out}, threads, DType::kInt64);
          ASSERT_TRUE(got.ok()) << got.status();
          for (int64_t o = 0; o < c.outer; ++o) {
            for (int64_t i = 0; i < c.inner; ++i) {
              ASSERT_EQ((*got)[0].data<int64_t>()[o * c.inner + i],
                        Expected(values, c, o, i, largest))
                  << Name(x.dtype()) << " seed " << seed << " at " << o << ", " << i;
            }
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, ArgReduceTest,
    testing::Combine(testing::ValuesIn(Targets()),
                     testing::Values(Case{1, 1, 1}, Case{3, 5, 1}, Case{40, 21, 1}, Case{2, 64, 1},
                                     Case{2, 16, 1}, Case{5, 77, 1}, Case{1, 5000, 1},
                                     Case{2, 7, 3}, Case{2, 3, 16}, Case{1, 9, 130},
                                     Case{3, 20, 257}, Case{0, 4, 3}, Case{2, 4, 0})));

TEST(ArgReduce, OutputsOfEachInteger) {
  const Tensor x = Tensor::From<float>({1, 4}, {1, 2, 7, 3});
  for (const DType dtype : {DType::kInt16, DType::kUint16, DType::kInt32, DType::kInt64}) {
    const auto got = RunFactory(VectorArgMax, MakeNode("ArgMax"), {x, Tensor::Scalar<int32_t>(-1)},
                                {Shape({1})}, 1, dtype);
    ASSERT_TRUE(got.ok()) << got.status();
    EXPECT_EQ(static_cast<const char*>((*got)[0].raw())[0], 2) << Name(dtype);
  }
}

}  // namespace
}  // namespace tenon
