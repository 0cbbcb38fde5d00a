// Smooth functions of one variable as polynomials on many short intervals: a value takes some two
// nanoseconds, whatever series the function itself needs. Rows pass the function, as to Unary, and
// where to tabulate it:
//
//   .accelerated = TabulatedUnary<kDawson, Intervals{-8, 7, 32, Symmetry::kOdd}>,
#ifndef TENON_KERNELS_ELEMENTWISE_TABULATED_H_
#define TENON_KERNELS_ELEMENTWISE_TABULATED_H_

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "Eigen/Core"
#include "absl/status/statusor.h"
#include "kernels/elementwise/reference.h"
#include "kernels/interface/kernel.h"
#include "kernels/interface/types.h"

namespace tenon {

enum class Symmetry : uint8_t { kNone, kEven, kOdd };

// The intervals are for magnitudes from 2^low to 2^high; without a symmetry, for positive numbers.
// Elsewhere the function itself is called.
struct Intervals {
  int low = 0, high = 0;
  int parts = 1;  // intervals between two powers of 2: a power of 2
  Symmetry symmetry = Symmetry::kNone;
  // For functions with zeros: the function itself is called where a value is so small that the
  // table's error, which is relative to the interval, counts.
  bool has_zeros = false;
};

// A table for float or double. Its polynomials interpolate at Chebyshev's points, so that they
// differ from a function by about 2 (h / 2)^n / n! where its derivatives are about as large as
// itself, h being half of an interval and n the number of coefficients.
template <typename T>
class FunctionTable {
 public:
  FunctionTable(long double (*function)(long double), const Intervals& intervals);

  // out[i] = the value at in[i], or `otherwise(in[i])`. E: T, or bfloat16 if that is float.
  template <typename E, typename F>
  void Map(const E* in, E* out, int64_t n, const F& otherwise) const {
    const auto* const rows = rows_.data();
    const size_t intervals = rows_.size();
    const int shift = shift_;
    const Bits first = first_;
    const Bits kept = symmetry_ == Symmetry::kNone ? ~Bits{0} : static_cast<Bits>(~kSignBit);
    const bool odd = symmetry_ == Symmetry::kOdd;
    const double least = least_;
    for (int64_t i = 0; i < n; ++i) {
      const T x = ToCompute(in[i]);
      const Bits bits = Eigen::numext::bit_cast<Bits>(x), magnitude = bits & kept;
      const Bits interval = (magnitude >> shift) - first;
      if (interval >= intervals) {
        out[i] = static_cast<E>(otherwise(x));
        continue;
      }
      const T middle =
          Eigen::numext::bit_cast<T>((magnitude >> shift << shift) | Bits{1} << (shift - 1));
      const T distance = Eigen::numext::bit_cast<T>(magnitude) - middle;
      const double y = Polynomial(rows[interval], static_cast<double>(distance));
      if (std::abs(y) < least) {
        out[i] = static_cast<E>(otherwise(x));
        continue;
      }
      out[i] =
          static_cast<E>(static_cast<T>(odd ? std::copysign(1.0, static_cast<double>(x)) * y : y));
    }
  }

 private:
  static constexpr bool kFloat = std::is_same_v<T, float>;
  using Bits = std::conditional_t<kFloat, uint32_t, uint64_t>;
  static constexpr Bits kSignBit = Bits{1} << (8 * sizeof(T) - 1);
  static constexpr size_t kCoefficients = kFloat ? 8 : 12;
  using Row = std::array<double, kCoefficients>;

  // Terms in groups of four, which do not wait for each other.
  static double Polynomial(const Row& c, double t) {
    const double t2 = t * t, t4 = t2 * t2;
    const auto group = [&](size_t i) {
      return (c[i] + c[i + 1] * t) + t2 * (c[i + 2] + c[i + 3] * t);
    };
    double sum = group(kCoefficients - 4);
    for (size_t i = kCoefficients - 4; i > 0; i -= 4) sum = sum * t4 + group(i - 4);
    return sum;
  }

  Symmetry symmetry_;
  int shift_;              // of a number's bits, to what numbers the intervals
  Bits first_;             // the number of the first interval
  double least_;           // below it, the function is called
  std::vector<Row> rows_;  // coefficients; the variable is the distance to the interval's middle
};

extern template class FunctionTable<float>;
extern template class FunctionTable<double>;

// Made by the first call, which needs memory for it.
template <Intervals kIntervals, auto exact, typename T>
const FunctionTable<T>& TableOf() {
  static const FunctionTable<T> table(exact, kIntervals);
  return table;
}

template <auto function, Intervals kIntervals, auto exact, typename T>
void TabulatedLoop(const void* x, void* y, int64_t n) {
  TableOf<kIntervals, exact, ComputeType<T>>().Map(static_cast<const T*>(x), static_cast<T*>(y), n,
                                                   function);
}

template <auto function>
long double RoundedToDouble(long double x) {
  return function(static_cast<double>(x));
}

// A kernel for float, bfloat16 and double. `exact`: the function that is tabulated, if there is a
// better one than function(double).
template <auto function, Intervals kIntervals, auto exact = &RoundedToDouble<function>>
absl::StatusOr<std::unique_ptr<Kernel>> TabulatedUnary(PrepareContext& p) {
  UnaryLoop loop;
  VisitTypes(TypeList<float, double, bfloat16>{}, p.input_dtype(0), [&]<typename T>() {
    TableOf<kIntervals, exact, ComputeType<T>>();
    loop = {&TabulatedLoop<function, kIntervals, exact, T>, sizeof(T), sizeof(T)};
  });
  if (loop.run == nullptr) return NoKernelFor(p.input_dtype(0));
  return MakeUnaryKernel(p, loop, "table");
}

}  // namespace tenon

#endif  // TENON_KERNELS_ELEMENTWISE_TABULATED_H_
