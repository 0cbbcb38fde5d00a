// Mean, Sum, Max and Min over every set of adjacent axes, against double.
#include "kernels/reduction/reduce.h"

#include <cmath>
#include <cstring>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/kernels/support.h"

namespace tenon {
namespace {

using namespace vector_test;

struct Case {
  Shape shape;
  std::vector<int32_t> axes;
  int64_t outer, reduced, inner;  // the equivalent three dimensions
  friend void PrintTo(const Case& c, std::ostream* os) {
    *os << c.shape.ToString() << " over";
    for (int32_t a : c.axes) *os << " " << a;
  }
};

constexpr std::pair<const char*, KernelFactory> kReductions[] = {
    {"Sum", VectorReduce<VectorReduction::kSum>},
    {"Mean", VectorReduce<VectorReduction::kMean>},
    {"Max", VectorReduce<VectorReduction::kMax>},
    {"Min", VectorReduce<VectorReduction::kMin>},
};

class ReduceTest : public TargetTest<Case> {};

TEST_P(ReduceTest, AgreesWithDouble) {
  const Case& c = GetCase();
  const Tensor x = Uniform(c.shape, 5, -1, 3);
  const Tensor axes = Tensor::Vector<int32_t>(c.axes);
  const Shape out({c.outer, c.inner});
  for (const auto& [name, factory] : kReductions) {
    const std::string op = name;
    const auto one = RunFactory(factory, MakeNode(op), {x, axes}, {out}, 1);
    ASSERT_TRUE(one.ok()) << one.status();
    const auto two = RunFactory(factory, MakeNode(op), {x, axes}, {out}, 2);
    ASSERT_TRUE(two.ok()) << two.status();
    ASSERT_EQ(0, std::memcmp((*one)[0].raw(), (*two)[0].raw(), (*one)[0].bytes()));
    for (int64_t o = 0; o < c.outer; ++o) {
      for (int64_t i = 0; i < c.inner; ++i) {
        double sum = 0, magnitude = 0, largest = -kInf, smallest = kInf;
        for (int64_t r = 0; r < c.reduced; ++r) {
          const double v = x.data<float>()[(o * c.reduced + r) * c.inner + i];
          sum += v;
          magnitude += std::fabs(v);
          largest = std::max(largest, v);
          smallest = std::min(smallest, v);
        }
        const double n = static_cast<double>(c.reduced);
        // Sums of sums: the longest chain of roundings is reduced / 8 for columns, and rows sum 64
        // values side by side; the errors cancel randomly to about the square root.
        const double rounding = 0x1p-24 * (6 + std::sqrt(n));
        const float got = (*one)[0].data<float>()[o * c.inner + i];
        if (op == "Sum") {
          ASSERT_NEAR(got, sum, magnitude * rounding);
        } else if (op == "Mean") {
          ASSERT_NEAR(got, sum / n, magnitude / n * rounding);
        } else {
          ASSERT_EQ(got, op == "Max" ? largest : smallest);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, ReduceTest,
    testing::Combine(
        testing::ValuesIn(Targets()),
        testing::Values(
            Case{{1, 7, 7, 1280}, {1, 2}, 1, 49, 1280}, Case{{3, 7, 7, 33}, {1, 2}, 3, 49, 33},
            Case{{2, 1, 5, 1000}, {2}, 2, 5, 1000}, Case{{2, 3, 100}, {-1}, 6, 100, 1},
            Case{{4, 1}, {1}, 4, 1, 1}, Case{{4, 5}, {}, 20, 1, 1}, Case{{17}, {0}, 1, 17, 1},
            Case{{15, 16, 3}, {0}, 1, 15, 48}, Case{{300000}, {0}, 1, 300000, 1},
            Case{{2, 140000}, {1}, 2, 140000, 1}, Case{{9, 300, 7}, {0, 1}, 1, 2700, 7},
            Case{{2, 112, 112, 32}, {1, 2}, 2, 12544, 32}, Case{{300, 1000}, {0}, 1, 300, 1000},
            Case{{8, 2, 2}, {0, 1, 2}, 1, 32, 1}, Case{{33, 2}, {1}, 33, 2, 1},
            Case{{1, 3}, {1}, 1, 3, 1}, Case{{5, 7, 3}, {2}, 35, 3, 1},
            Case{{16000, 3}, {1}, 16000, 3, 1}, Case{{19, 2, 2}, {1, 2}, 19, 4, 1})));

TEST(VectorReduce, ShortRowsKeepNaNAndHaveNoNegativeZero) {
  for (const int64_t n : {2, 3, 4}) {
    for (const int64_t at : {0, 5, 36}) {
      for (int64_t element = 0; element < n; ++element) {
        Tensor x = *Tensor::Allocate(DType::kFloat, Shape({37, n}));
        for (int64_t i = 0; i < x.num_elements(); ++i) x.data<float>()[i] = -0.0f;
        x.data<float>()[at * n + element] = kNaN;
        for (const auto& [op, factory] : kReductions) {
          const auto got =
              RunFactory(factory, MakeNode(op), {x, Tensor::Vector<int32_t>({1})}, {Shape({37})});
          ASSERT_TRUE(got.ok()) << got.status();
          for (int64_t i = 0; i < 37; ++i) {
            const float result = (*got)[0].data<float>()[i];
            EXPECT_EQ(std::isnan(result), i == at) << op << " of " << n << ", row " << i;
            const bool sums = std::string(op) == "Sum" || std::string(op) == "Mean";
            EXPECT_FALSE(sums && i != at && std::signbit(result)) << op << " of " << n;
          }
        }
      }
    }
  }
}

TEST(VectorReduce, NaNIsTheExtreme) {
  for (const int64_t at : {0, 7, 63, 64, 80}) {
    Tensor x = Uniform(Shape({81, 20}), 1);
    x.data<float>()[at * 20 + 3] = kNaN;
    for (const auto& [op, factory] : kReductions) {
      const auto columns =
          RunFactory(factory, MakeNode(op), {x, Tensor::Vector<int32_t>({0})}, {Shape({20})});
      ASSERT_TRUE(columns.ok());
      const auto rows =
          RunFactory(factory, MakeNode(op), {x, Tensor::Vector<int32_t>({1})}, {Shape({81})});
      ASSERT_TRUE(rows.ok());
      for (int64_t i = 0; i < 20; ++i) {
        EXPECT_EQ(std::isnan((*columns)[0].data<float>()[i]), i == 3) << op << at;
      }
      for (int64_t i = 0; i < 81; ++i) {
        EXPECT_EQ(std::isnan((*rows)[0].data<float>()[i]), i == at) << op << at;
      }
    }
  }
}

TEST(VectorReduce, LeavesTheRestToTheStandardKernel) {
  const auto status = [](const Shape& shape, std::vector<int32_t> axes) {
    return RunFactory(VectorReduce<VectorReduction::kSum>, MakeNode("Sum"),
                      {Uniform(shape, 1), Tensor::Vector<int32_t>(std::move(axes))}, {Shape({3})})
        .status();
  };
  EXPECT_TRUE(absl::IsUnimplemented(status({2, 3, 4, 5}, {0, 2})));
  EXPECT_TRUE(absl::IsUnimplemented(status({3, 0}, {1})));
  EXPECT_TRUE(absl::IsInvalidArgument(status({3, 2}, {2})));
}

}  // namespace
}  // namespace tenon
