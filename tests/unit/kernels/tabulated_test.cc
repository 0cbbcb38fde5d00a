// Ops that are tables of polynomials, against the functions themselves in double.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/unit/kernels/nn_test_util.h"

namespace tenon {
namespace {

struct TableCase {
  const char* op;
  int low, high;  // the exponents of the table
  bool negative;  // whether it serves negative numbers
};
void PrintTo(const TableCase& c, std::ostream* os) { *os << c.op; }

class Tables : public testing::TestWithParam<TableCase> {
 protected:
  template <typename T>
  static Tensor Run(const std::string& op, const std::vector<T>& x) {
    const auto result =
        RunNode(MakeNode(op, {{"T", std::is_same_v<T, float> ? DType::kFloat : DType::kDouble}}),
                {Tensor::From<T>({static_cast<int64_t>(x.size())}, x)}, {});
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? result->outputs[0] : Tensor();
  }
};

// Beginnings, middles and ends of intervals, whatever their number in an octave.
template <typename T>
std::vector<T> Points(const TableCase& c) {
  std::vector<T> points;
  for (int e = c.low; e < c.high; ++e) {
    for (int i = 0; i < 32; ++i) {
      const T begin = std::ldexp(T{1} + static_cast<T>(i) / 32, e);
      const T width = std::ldexp(T{1}, e) / 32;
      for (const T at : {T{0}, T{0.27}, T{0.5}, T{0.81}}) points.push_back(begin + at * width);
      points.push_back(std::nextafter(begin + width, T{0}));
    }
  }
  if (!c.negative) return points;
  const size_t n = points.size();
  for (size_t i = 0; i < n; ++i) points.push_back(-points[i]);
  return points;
}

template <typename T>
void ExpectNear(const Tensor& got, const Tensor& want, const std::vector<T>& x, double relative,
                double absolute) {
  for (size_t i = 0; i < x.size(); ++i) {
    const double a = static_cast<double>(got.data<T>()[i]), b = want.data<double>()[i];
    // Beyond float's range the result is infinite, or 0.
    if (std::abs(b) > static_cast<double>(std::numeric_limits<T>::max())) continue;
    ASSERT_LE(std::abs(a - b), relative * std::abs(b) + absolute)
        << "at " << static_cast<double>(x[i]) << ": " << a << " and " << b;
  }
}

TEST_P(Tables, AreTheFunction) {
  const TableCase& c = GetParam();
  const std::string native = std::string("_MklNative") + c.op;
  const std::vector<float> floats = Points<float>(c);
  const std::vector<double> widened(floats.begin(), floats.end());
  ExpectNear(Run(native, floats), Run(c.op, widened), floats, 7e-8, 1e-9);
  const std::vector<double> doubles = Points<double>(c);
  ExpectNear(Run(native, doubles), Run(c.op, doubles), doubles, 4e-15, 4e-15);
}

TEST_P(Tables, CallTheFunctionElsewhere) {
  const TableCase& c = GetParam();
  const std::string native = std::string("_MklNative") + c.op;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> x = {0.0f,
                                -0.0f,
                                std::ldexp(0.99f, c.low),
                                std::ldexp(1.0f, c.high),
                                1e-30f,
                                1e30f,
                                -1e-30f,
                                -1e30f,
                                -kInfinity,
                                kInfinity};
  const Tensor got = Run(native, x), want = Run(c.op, x);
  for (size_t i = 0; i < x.size(); ++i) {
    const float a = got.data<float>()[i], b = want.data<float>()[i];
    EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b))) << x[i] << ": " << a << " and " << b;
    EXPECT_EQ(std::signbit(a) && !std::isnan(a), std::signbit(b) && !std::isnan(b)) << x[i];
  }
  const Tensor nan = Run<float>(native, {std::numeric_limits<float>::quiet_NaN()});
  EXPECT_TRUE(std::isnan(nan.data<float>()[0]));
}

// Next to its zeros, a function's value is as small as the argument's distance.
TEST(TablesNearZeros, AreTheFunction) {
  const struct {
    const char* op;
    double zero;
  } cases[] = {{"Lgamma", 1},
               {"Lgamma", 2},
               {"Digamma", 1.4616321449683623},
               {"Spence", 1},
               {"Expint", 0.37250741078136663}};
  for (const auto& [op, zero] : cases) {
    std::vector<double> x = {zero};
    for (double distance = 1e-16; distance < 1; distance *= 3) {
      x.push_back(zero + distance);
      x.push_back(zero - distance / 3);
    }
    const Tensor inputs = Tensor::From<double>({static_cast<int64_t>(x.size())}, x);
    const AttrMap attrs{{"T", DType::kDouble}};
    const auto got = RunNode(MakeNode(std::string("_MklNative") + op, attrs), {inputs}, {});
    const auto want = RunNode(MakeNode(op, attrs), {inputs}, {});
    ASSERT_TRUE(got.ok() && want.ok());
    for (size_t i = 0; i < x.size(); ++i) {
      const double a = got->outputs[0].data<double>()[i], b = want->outputs[0].data<double>()[i];
      EXPECT_LE(std::abs(a - b), 1e-13 * std::abs(b)) << op << " at " << x[i];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, Tables,
    testing::Values(TableCase{"BesselI0", -8, 5, true}, TableCase{"BesselI0e", -8, 7, true},
                    TableCase{"BesselI1", -8, 5, true}, TableCase{"BesselI1e", -8, 7, true},
                    TableCase{"BesselJ0", -8, 6, true}, TableCase{"BesselJ1", -8, 6, true},
                    TableCase{"BesselK0", -10, 6, false}, TableCase{"BesselK0e", -10, 7, false},
                    TableCase{"BesselK1", -10, 6, false}, TableCase{"BesselK1e", -10, 7, false},
                    TableCase{"BesselY0", -10, 6, false}, TableCase{"BesselY1", -10, 6, false},
                    TableCase{"Dawsn", -8, 7, true}, TableCase{"Expint", -10, 5, false},
                    TableCase{"FresnelCos", -8, 3, true}, TableCase{"FresnelSin", -8, 3, true},
                    TableCase{"Spence", -10, 10, false}, TableCase{"Digamma", -10, 10, false},
                    TableCase{"Lgamma", -10, 10, false}),
    [](const auto& info) { return std::string(info.param.op); });

}  // namespace
}  // namespace tenon
