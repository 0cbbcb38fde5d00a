// Rotary embedding: vector and reference kernels against a loop in double.
#include <cmath>
#include <vector>

#include "Eigen/Core"
#include "env/flags.h"
#include "gtest/gtest.h"
#include "ops/evaluate.h"
#include "tests/unit/kernels/support.h"

namespace tenon {
namespace {

using namespace vector_test;

struct RotaryCase {
  Shape x, angles;
  friend void PrintTo(const RotaryCase& c, std::ostream* os) {
    *os << c.x.ToString() << c.angles.ToString();
  }
};

class RotaryTest : public TargetTest<RotaryCase> {
 protected:
  static absl::StatusOr<Tensor> Rotated(const std::string& op, DType dtype,
                                        const std::vector<Tensor>& inputs, int threads,
                                        bool interleaved = false) {
    static const Flags& flags = *new Flags();
    Services services;
    services.flags = &flags;
    services.threads = threads;
    Node node = MakeNode(op);
    node.attrs["T"] = AttrValue(dtype);
    node.attrs["interleaved"] = AttrValue(interleaved);
    auto outputs = Evaluate(node, inputs, services);
    if (!outputs.ok()) return outputs.status();
    return (*outputs)[0];
  }
};

// The element of angles that belongs to element `at` of row `row` of x.
double AngleAt(const Tensor& angles, const Shape& x, int64_t row, int64_t at) {
  int64_t offset = at, stride = angles.shape().dim(angles.shape().rank() - 1);
  for (int d = 2; d <= x.rank(); ++d) {
    const int64_t index = row % x.dim(x.rank() - d);
    row /= x.dim(x.rank() - d);
    if (d > angles.shape().rank()) continue;
    const int64_t size = angles.shape().dim(angles.shape().rank() - d);
    if (size != 1) offset += index * stride;
    stride *= size;
  }
  return angles.data<float>()[offset];
}

TEST_P(RotaryTest, AgreesWithDouble) {
  const auto [shape, angles] = GetCase();
  const Tensor x = Uniform(shape, 1, -2, 2), cos = Uniform(angles, 2), sin = Uniform(angles, 3);
  const int64_t n = shape.dim(shape.rank() - 1), h = n / 2, rows = shape.num_elements() / n;
  const int64_t second = angles.dim(angles.rank() - 1) == n ? h : 0;
  for (const char* op : {"_Rotary", "_MklNativeRotary"}) {
    for (int threads : {1, 2}) {
      const auto y = Rotated(op, DType::kFloat, {x, cos, sin}, threads);
      ASSERT_TRUE(y.ok()) << y.status();
      ASSERT_EQ(y->shape(), shape);
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t i = 0; i < h; ++i) {
          const double a = x.data<float>()[r * n + i], b = x.data<float>()[r * n + h + i];
          const double first = a * AngleAt(cos, shape, r, i) - b * AngleAt(sin, shape, r, i);
          const double last =
              b * AngleAt(cos, shape, r, second + i) + a * AngleAt(sin, shape, r, second + i);
          // Two products of at most 2 and their sum are rounded.
          ASSERT_NEAR(y->data<float>()[r * n + i], first, 8 * 0x1p-24) << op << r << " " << i;
          ASSERT_NEAR(y->data<float>()[r * n + h + i], last, 8 * 0x1p-24) << op << r << " " << i;
        }
      }
    }
  }
}

TEST_P(RotaryTest, NeighborsAgreeWithDouble) {
  const auto [shape, angles] = GetCase();
  const int64_t n = shape.dim(shape.rank() - 1), rows = shape.num_elements() / n;
  if (angles.dim(angles.rank() - 1) != n) return;
  const Tensor x = Uniform(shape, 1, -2, 2), cos = Uniform(angles, 2), sin = Uniform(angles, 3);
  for (const char* op : {"_Rotary", "_MklNativeRotary"}) {
    const auto y = Rotated(op, DType::kFloat, {x, cos, sin}, 2, /*interleaved=*/true);
    ASSERT_TRUE(y.ok()) << y.status();
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t i = 0; i < n; ++i) {
        const double own = x.data<float>()[r * n + i], other = x.data<float>()[r * n + (i ^ 1)];
        const double turned = (i % 2 == 0 ? -other : other) * AngleAt(sin, shape, r, i);
        ASSERT_NEAR(y->data<float>()[r * n + i], own * AngleAt(cos, shape, r, i) + turned,
                    8 * 0x1p-24)
            << op << r << " " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, RotaryTest,
                         testing::Combine(testing::ValuesIn(Targets()),
                                          testing::Values(RotaryCase{{2}, {1}},
                                                          RotaryCase{{3, 6}, {3}},
                                                          RotaryCase{{3, 6}, {3, 6}},
                                                          RotaryCase{{2, 5, 3, 34}, {5, 1, 17}},
                                                          RotaryCase{{2, 5, 3, 34}, {1, 5, 1, 34}},
                                                          RotaryCase{{2, 5, 3, 64}, {2, 5, 3, 32}},
                                                          RotaryCase{{1, 40, 12, 64}, {40, 1, 64}},
                                                          RotaryCase{{2, 3, 30}, {2, 1, 30}})));

TEST(Rotary, Bfloat16RoundsTheFloatResult) {
  const Shape shape({3, 4, 22}), angles({4, 11});
  std::vector<Tensor> narrow, wide;
  for (unsigned i = 0; i < 3; ++i) {
    const Tensor t = Uniform(i == 0 ? shape : angles, i + 1);
    Tensor n = *Tensor::Allocate(DType::kBfloat16, t.shape());
    Tensor w = *Tensor::Allocate(DType::kFloat, t.shape());
    for (int64_t k = 0; k < t.num_elements(); ++k) {
      n.data<bfloat16>()[k] = static_cast<bfloat16>(t.data<float>()[k]);
      w.data<float>()[k] = static_cast<float>(n.data<bfloat16>()[k]);
    }
    narrow.push_back(n);
    wide.push_back(w);
  }
  static const Flags& flags = *new Flags();
  Services services;
  services.flags = &flags;
  services.threads = 2;
  Node node = MakeNode("_MklNativeRotary");
  node.attrs["T"] = AttrValue(DType::kBfloat16);
  const auto y = Evaluate(node, narrow, services);
  ASSERT_TRUE(y.ok()) << y.status();
  node.attrs["T"] = AttrValue(DType::kFloat);
  const auto expected = Evaluate(node, wide, services);
  ASSERT_TRUE(expected.ok()) << expected.status();
  for (int64_t k = 0; k < shape.num_elements(); ++k) {
    ASSERT_EQ(static_cast<float>((*y)[0].data<bfloat16>()[k]),
              static_cast<float>(static_cast<bfloat16>((*expected)[0].data<float>()[k])));
  }
}

TEST(Rotary, ChecksItsShapes) {
  static const Flags& flags = *new Flags();
  Services services;
  services.flags = &flags;
  Node node = MakeNode("_Rotary");
  node.attrs["T"] = AttrValue(DType::kFloat);
  const auto run = [&](const Shape& x, const Shape& cos, const Shape& sin) {
    return Evaluate(node, {Uniform(x, 1), Uniform(cos, 1), Uniform(sin, 1)}, services).status();
  };
  EXPECT_TRUE(absl::IsInvalidArgument(run({2, 5}, {5}, {5})));
  EXPECT_TRUE(absl::IsInvalidArgument(run({2, 6}, {2}, {2})));
  EXPECT_TRUE(absl::IsInvalidArgument(run({2, 6}, {3}, {6})));
  EXPECT_TRUE(absl::IsInvalidArgument(run({2, 6}, {3, 2, 6}, {6})));
  EXPECT_TRUE(absl::IsInvalidArgument(run({2, 6}, {3, 6}, {6})));
  node.attrs["interleaved"] = AttrValue(true);
  EXPECT_TRUE(absl::IsInvalidArgument(run({2, 6}, {3}, {3})));
  EXPECT_TRUE(run({2, 6}, {6}, {6}).ok());
}

}  // namespace
}  // namespace tenon
