#include "kernels/elementwise/tabulated.h"

#include <limits>

namespace tenon {
namespace {

constexpr long double kPi = 3.14159265358979323846264338327950288L;

// The cosines of m n-ths of a turn.
template <size_t n>
std::array<long double, n> CosinesOfTurn() {
  std::array<long double, n> cosines;
  for (size_t m = 0; m < n; ++m) cosines[m] = std::cos(2 * kPi * static_cast<long double>(m) / n);
  return cosines;
}

// The polynomial of t = x - middle, |t| <= half, that interpolates f at n of Chebyshev's points.
template <size_t n>
std::array<double, n> Interpolate(long double (*f)(long double), double middle, double half) {
  using Terms = std::array<long double, n>;
  static const auto cosines = CosinesOfTurn<4 * n>();
  // Of j times the angle of point k.
  const auto cosine = [](size_t j, size_t k) { return cosines[j * (2 * k + 1) % (4 * n)]; };
  Terms values;
  for (size_t k = 0; k < n; ++k) {
    values[k] = f(middle + half * cosine(1, k));
  }
  // Of u = t / half: the sum of c[j] T_j(u), then by powers of u. T_(j+1) = 2 u T_j - T_(j-1).
  Terms powers{}, before{}, chebyshev{};
  chebyshev[0] = 1;
  for (size_t j = 0; j < n; ++j) {
    long double c = 0;
    for (size_t k = 0; k < n; ++k) c += values[k] * cosine(j, k);
    c *= (j == 0 ? 1.0L : 2.0L) / n;
    Terms next{};
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
  std::array<double, n> result;
  long double scale = 1;
  for (size_t i = 0; i < n; ++i, scale /= half) result[i] = static_cast<double>(powers[i] * scale);
  return result;
}

}  // namespace

template <typename T>
FunctionTable<T>::FunctionTable(long double (*function)(long double), const Intervals& intervals)
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
