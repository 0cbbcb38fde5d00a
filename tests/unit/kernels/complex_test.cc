// Vector code for complex64 against std::complex in double.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/interface/types.h"
#include "tests/unit/kernels/nn_test_util.h"

namespace tenon {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

complex128 Widen(complex64 z) { return {z.real(), z.imag()}; }

// Numbers of all sizes in all quadrants, on the axes and on the unit circle, where the logarithm
// cancels.
std::vector<complex64> Points() {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> turn(-3.2f, 3.2f), exponent(-9, 9);
  std::vector<complex64> points;
  for (int i = 0; i < 3001; ++i) {
    const float size = i % 3 == 0 ? 1.0f : std::exp(exponent(random));
    points.push_back(std::polar(size, turn(random)));
  }
  for (const float x : {1.0f, -1.0f, 2.0f, -0.25f, 1e-20f, -1e20f}) {
    for (const float zero : {0.0f, -0.0f}) {
      points.push_back({x, zero});
      points.push_back({zero, x});
    }
  }
  return points;
}

Tensor TensorOf(const std::vector<complex64>& values) {
  return Tensor::From<complex64>({static_cast<int64_t>(values.size())}, values);
}

// |got - want| within `bound` of |want|, and of 1 near its zeros.
void ExpectNear(const Tensor& got, const std::vector<complex128>& want, double bound) {
  for (size_t i = 0; i < want.size(); ++i) {
    const complex128 a = Widen(got.data<complex64>()[i]), b = want[i];
    if (std::abs(b) > 1e38) continue;
    ASSERT_LE(std::abs(a - b), bound * std::max(std::abs(b), 1e-7)) << i << ": " << a << " " << b;
  }
}

Tensor RunOp(const std::string& op, const std::vector<Tensor>& inputs, int threads) {
  const auto result =
      RunNode(MakeNode(op, {{"T", DType::kComplex64}}), inputs, {.threads = threads});
  EXPECT_TRUE(result.ok()) << result.status();
  return result.ok() ? result->outputs[0] : Tensor();
}

TEST(ComplexVectors, Functions) {
  struct Case {
    std::string op;
    std::function<complex128(complex128)> f;
    double bound;
  };
  const std::vector<Case> cases = {{"Exp", [](complex128 z) { return std::exp(z); }, 5e-7},
                                   {"Log", [](complex128 z) { return std::log(z); }, 5e-7},
                                   {"Sqrt", [](complex128 z) { return std::sqrt(z); }, 5e-7}};
  for (const auto& [op, f, bound] : cases) {
    std::vector<complex64> points = Points();
    if (op == "Exp") {  // a large angle alone has a rounding error as large as itself
      for (complex64& z : points) z = {std::clamp(z.real(), -80.0f, 80.0f), z.imag()};
    }
    std::vector<complex128> want;
    for (const complex64 z : points) want.push_back(f(Widen(z)));
    for (int threads : {1, 2}) {
      SCOPED_TRACE(op);
      ExpectNear(RunOp("_MklNative" + op, {TensorOf(points)}, threads), want, bound);
    }
    // Each size gives each element the same bits.
    const Tensor all = RunOp("_MklNative" + op, {TensorOf(points)}, 1);
    for (size_t n : {size_t{0}, size_t{1}, size_t{3}, size_t{17}, size_t{33}}) {
      const Tensor part =
          RunOp("_MklNative" + op, {TensorOf({points.begin(), points.begin() + n})}, 1);
      for (size_t i = 0; i < n; ++i) {
        EXPECT_EQ(part.data<complex64>()[i], all.data<complex64>()[i]) << op << ", " << n;
      }
    }
  }
}

TEST(ComplexVectors, ProductsAndQuotients) {
  const std::vector<complex64> a = Points();
  std::vector<complex64> b(a.rbegin(), a.rend());
  for (const bool divide : {false, true}) {
    const std::string op = divide ? "_MklNativeRealDiv" : "_MklNativeMul";
    std::vector<complex128> want, by_one;
    for (size_t i = 0; i < a.size(); ++i) {
      const auto of = [&](complex128 x, complex128 y) { return divide ? x / y : x * y; };
      want.push_back(of(Widen(a[i]), Widen(b[i])));
      by_one.push_back(of(Widen(a[i]), Widen(b[5])));
    }
    ExpectNear(RunOp(op, {TensorOf(a), TensorOf(b)}, 2), want, 3e-7);
    ExpectNear(RunOp(op, {TensorOf(a), TensorOf({b[5]})}, 2), by_one, 3e-7);
  }
}

// As the op's formula has it; NaN may be in either part.
TEST(ComplexVectors, SpecialValues) {
  std::vector<complex64> special;
  for (const float x : {0.0f, -0.0f, 1.0f, -1.0f, 1e-30f, 3e38f, kInfinity, -kInfinity, kNan}) {
    for (const float y : {0.0f, -0.0f, -2.0f, 1e-38f, -3e38f, kInfinity, -kInfinity, kNan}) {
      special.push_back({x, y});
    }
  }
  const auto same = [](float a, float b) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
    if (std::isinf(b) || b == 0) return a == b && std::signbit(a) == std::signbit(b);
    return std::abs(a - b) <= 1e-6f * std::abs(b);
  };
  for (const std::string op : {"Exp", "Log", "Sqrt"}) {
    const Tensor got = RunOp("_MklNative" + op, {TensorOf(special)}, 1);
    const Tensor want = RunOp(op, {TensorOf(special)}, 1);
    for (size_t i = 0; i < special.size(); ++i) {
      const complex64 a = got.data<complex64>()[i], b = want.data<complex64>()[i];
      EXPECT_TRUE(same(a.real(), b.real()) && same(a.imag(), b.imag()))
          << op << " of " << special[i] << ": " << a << " and " << b;
    }
  }
}

}  // namespace
}  // namespace tenon
