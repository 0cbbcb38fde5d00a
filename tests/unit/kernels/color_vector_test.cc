// Colors by vector code: those of single pixels have the bits of the reference kernels, contrast is
// within a rounding of the mean.
#include <cmath>
#include <cstring>
#include <random>

#include "env/flush_denormals.h"
#include "gtest/gtest.h"
#include "kernels/image/color.h"
#include "kernels/interface/types.h"
#include "tests/unit/kernels/support.h"

namespace tenon {
namespace {

using namespace vector_test;

// Colors in 0..1 (some gray or equal in two channels, some outside), and special values.
Tensor Colors(DType dtype, const Shape& shape) {
  static const float kSpecial[] = {kNaN, kInf, -kInf, -0.0f, 0, 1, -1, 3e38f, 1e-40f};
  std::mt19937 random(5);
  Tensor t = *Tensor::Allocate(dtype, shape);
  const auto fill = [&]<typename T>() -> absl::Status {
    for (int64_t i = 0; i < t.num_elements(); ++i) {
      float v = static_cast<float>(random() % 64) / 63;
      if (random() % 50 == 0) v = kSpecial[random() % std::size(kSpecial)];
      if (random() % 40 == 0) v = -2 * v;
      if (i > 0 && random() % 5 == 0) v = static_cast<float>(t.data<T>()[i - 1]);
      t.data<T>()[i] = static_cast<T>(v);
    }
    return absl::OkStatus();
  };
  EXPECT_TRUE(DispatchType(TypeList<float, half, bfloat16>{}, dtype, fill).ok());
  return t;
}

struct ColorOp {
  const char* name;
  KernelFactory reference, vector;
  std::vector<float> amounts;  // none: the op has no such input
};
const ColorOp kOps[] = {
    {"RGBToHSV", RgbToHsv, VectorRgbToHsv, {}},
    {"HSVToRGB", HsvToRgb, VectorHsvToRgb, {}},
    {"AdjustHue", AdjustHue, VectorAdjustHue, {0, 0.3f, -1.7f, kInf}},
    {"AdjustSaturation", AdjustSaturation, VectorAdjustSaturation, {0, 0.5f, 2.5f, kNaN}},
};

Tensor RunColor(KernelFactory factory, const Tensor& images, const float* amount, int threads) {
  std::vector<Tensor> inputs = {images};
  if (amount != nullptr) inputs.push_back(Tensor::Scalar<float>(*amount));
  auto result = RunFactory(factory, MakeNode("color"), inputs, {images.shape()}, threads);
  EXPECT_TRUE(result.ok()) << result.status();
  return (*result)[0];
}

// The same bits, but NaN may have any, and an input that is denormal may be passed on as it is or
// as zero.
template <typename T>
void ExpectSame(const Tensor& got, const Tensor& expected, const std::string& what) {
  for (int64_t i = 0; i < got.num_elements(); ++i) {
    const float a = static_cast<float>(got.data<T>()[i]),
                b = static_cast<float>(expected.data<T>()[i]);
    if (std::isnan(a) && std::isnan(b)) continue;
    ASSERT_TRUE(a == b && std::signbit(a) == std::signbit(b))
        << what << " at " << i << ": " << a << ", " << b;
  }
}

class ColorVectorTest : public TargetTest<int> {};  // pixels

TEST_P(ColorVectorTest, PixelsAgreeWithTheReference) {
  const FlushDenormals flush;  // as in a session, and in a team of threads
  const Shape shape({1, 1, GetCase(), 3});
  for (const DType dtype : {DType::kFloat, DType::kHalf, DType::kBfloat16}) {
    const Tensor images = Colors(dtype, shape);
    for (const ColorOp& op : kOps) {
      std::vector<const float*> amounts;
      for (const float& amount : op.amounts) amounts.push_back(&amount);
      if (amounts.empty()) amounts.push_back(nullptr);
      for (const float* const amount : amounts) {
        const Tensor expected = RunColor(op.reference, images, amount, 1);
        for (const int threads : {1, 2}) {
          const Tensor got = RunColor(op.vector, images, amount, threads);
          const auto compare = [&]<typename T>() -> absl::Status {
            ExpectSame<T>(got, expected, op.name + (" " + std::string(Name(dtype))));
            return absl::OkStatus();
          };
          ASSERT_TRUE(DispatchType(TypeList<float, half, bfloat16>{}, dtype, compare).ok());
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Pixels, ColorVectorTest,
                         testing::Combine(testing::ValuesIn(Targets()),
                                          testing::Values(0, 1, 7, 16, 100, 20001)));

TEST(ColorVector, DoubleIsLeftToTheReference) {
  const Tensor images = *Tensor::Allocate(DType::kDouble, Shape({1, 1, 2, 3}));
  EXPECT_FALSE(RunFactory(VectorRgbToHsv, MakeNode("color"), {images}, {images.shape()}).ok());
}

class ContrastTest : public TargetTest<Shape> {};

TEST_P(ContrastTest, AgreesWithTheReference) {
  const float factor = 1.7f;
  const Tensor images = Uniform(GetCase(), 3, -1, 3);
  Tensor half_images = *Tensor::Allocate(DType::kHalf, GetCase());
  for (int64_t i = 0; i < images.num_elements(); ++i) {
    half_images.data<half>()[i] = static_cast<half>(images.data<float>()[i]);
  }
  for (const Tensor& x : {images, half_images}) {
    const bool is_half = x.dtype() == DType::kHalf;
    const Tensor expected = RunColor(AdjustContrast, x, &factor, 1);
    const Tensor one = RunColor(VectorAdjustContrast, x, &factor, 1);
    for (int64_t i = 0; i < one.num_elements(); ++i) {
      const float a = is_half ? static_cast<float>(one.data<half>()[i]) : one.data<float>()[i];
      const float b =
          is_half ? static_cast<float>(expected.data<half>()[i]) : expected.data<float>()[i];
      ASSERT_NEAR(a, b, is_half ? 0.004 : 1e-6) << Name(x.dtype()) << " at " << i;
    }
    for (const int threads : {2, 5}) {
      const Tensor many = RunColor(VectorAdjustContrast, x, &factor, threads);
      EXPECT_EQ(std::memcmp(many.raw(), one.raw(), one.bytes()), 0) << threads << " threads";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, ContrastTest,
    testing::Combine(testing::ValuesIn(Targets()),
                     testing::Values(Shape({1, 1, 1}), Shape({2, 5, 7, 3}), Shape({224, 224, 3}),
                                     Shape({2, 3, 60, 50, 1}), Shape({1, 70, 90, 17}),
                                     Shape({3, 40, 50, 65}), Shape({2, 1, 3, 1000}),
                                     Shape({0, 4, 4, 3}), Shape({2, 0, 4, 3}),
                                     Shape({2, 4, 4, 0}))));

}  // namespace
}  // namespace tenon
