#include "kernels/elementwise/tabulated.h"

#include <limits>

namespace tenon {
namespace {

constexpr double kPi = 3.14159265358979323846;

// The polynomial of t = x - middle, |t| <= half, that interpolates f at n of Chebyshev's points.
template <size_t n>
std::array<double, n> Interpolate(double (*f)(double), double middle, double half) {
  const auto angle = [](size_t k) { return kPi * (static_cast<double>(k) + 0.5) / n; };
  std::array<double, n> values;
  for (size_t k = 0; k < n; ++k) values[k] = f(middle + half * std::cos(angle(k)));
  // Of u = t / half: the sum of c[j] T_j(u), then by powers of u. T_(j+1) = 2 u T_j - T_(j-1).
  std::array<double, n> powers{}, before{}, chebyshev{};
  chebyshev[0] = 1;
  for (size_t j = 0; j < n; ++j) {
    double c = 0;
    for (size_t k = 0; k < n; ++k) c += values[k] * std::cos(static_cast<double>(j) * angle(k));
    c *= (j == 0 ? 1.0 : 2.0) / n;
    std::array<double, n> next{};
    for (size_t i = 0; i < n; ++i) {
      powers[i] += c * chebyshev[i];
      if (i + 1 < n) next[i + 1] = (j == 0 ? 1 : 2) * chebyshev[i];
    }
    if (j > 0) {
      for (size_t i = 0; i < n; ++i) next[i] -= before[i];
    }
    before = chebyshev;
    chebyshev = next;
  }
  double scale = 1;
  for (size_t i = 0; i < n; ++i, scale /= half) powers[i] *= scale;
  return powers;
}

}  // namespace

template <typename T>
FunctionTable<T>::FunctionTable(double (*function)(double), const Intervals& intervals)
    : symmetry_(intervals.symmetry), least_(intervals.has_zeros ? 1.0 / 64 : 0) {
  const int parts = intervals.parts;
  shift_ = std::numeric_limits<T>::digits - 1 - static_cast<int>(std::lround(std::log2(parts)));
  first_ = Eigen::numext::bit_cast<Bits>(std::ldexp(T{1}, intervals.low)) >> shift_;
  for (int e = intervals.low; e < intervals.high; ++e) {
    const double width = std::ldexp(1.0, e) / parts;
    for (int i = 0; i < parts; ++i) {
      const double middle = std::ldexp(1.0, e) + (i + 0.5) * width;
      rows_.push_back(Interpolate<kCoefficients>(function, middle, width / 2));
    }
  }
}

template class FunctionTable<float>;
template class FunctionTable<double>;

}  // namespace tenon
