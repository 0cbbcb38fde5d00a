#include "kernels/fft/fft_lines.h"

#include <cmath>
#include <complex>
#include <numbers>
#include <unsupported/Eigen/FFT>

namespace tenon {
namespace {

// Radix 4 costs least per point. The last ones take radix^2 operations.
constexpr int64_t kRadices[] = {4, 2, 3, 5, 7, 11, 13};
constexpr int64_t kLargestWithCode = 5;

template <typename T>
void AddNumber(std::vector<T>& to, std::complex<double> v) {
  to.push_back(static_cast<T>(v.real()));
  to.push_back(static_cast<T>(v.imag()));
}

// exp(-2 pi i k / n), exact to the last bit or nearly so.
template <typename T>
void AddRoot(std::vector<T>& to, int64_t k, int64_t n) {
  const double angle = -2 * std::numbers::pi * static_cast<double>(k % n) / static_cast<double>(n);
  AddNumber(to, {std::cos(angle), std::sin(angle)});
}

// Relative to the others: of each point, by the stages with code of their own.
double StagesCost(int64_t points) {
  struct Stage {
    int64_t radix;
    double cost;
  };
  double cost = 0;
  int64_t rest = points;
  for (const Stage& stage : {Stage{4, 1}, Stage{2, 0.7}, Stage{3, 1.1}, Stage{5, 1.6}}) {
    for (; rest % stage.radix == 0; rest /= stage.radix) cost += stage.cost;
  }
  return cost * static_cast<double>(points);
}

}  // namespace

bool HasFftStages(int64_t n) {
  if (n < 1) return false;
  for (int64_t radix : kRadices) {
    while (n % radix == 0) n /= radix;
  }
  return n == 1;
}

int64_t PaddedPoints(int64_t n) {
  const int64_t least = 2 * n - 1;
  int64_t best = 0;
  double best_cost = 0;
  for (int64_t fives = 1; fives <= 2 * least; fives *= 5) {
    for (int64_t threes = fives; threes <= 2 * least; threes *= 3) {
      int64_t length = threes;
      while (length < least) length *= 2;
      const double cost = StagesCost(length);
      if (best == 0 || cost < best_cost) {
        best = length;
        best_cost = cost;
      }
    }
  }
  return best;
}

template <typename T>
std::vector<T> HalfTurns(int64_t points) {
  std::vector<T> turns;
  for (int64_t k = 0; k <= points; ++k) AddRoot(turns, k, 2 * points);
  return turns;
}

template <typename T>
FftTables<T> MakeFftTables(int64_t points, bool real) {
  FftTables<T> tables;
  tables.points = static_cast<size_t>(points);
  if (real) tables.half_turns = HalfTurns<T>(points);
  if (!HasFftStages(points)) return tables;
  int64_t length = points;
  for (int64_t radix : kRadices) {
    for (; length % radix == 0; length /= radix) {
      typename FftTables<T>::Stage stage;
      const int64_t span = length / radix;
      stage.radix = static_cast<size_t>(radix);
      stage.span = static_cast<size_t>(span);
      stage.stride = static_cast<size_t>(points / length);
      for (int64_t p = 0; p < span; ++p) {
        for (int64_t j = 1; j < radix; ++j) AddRoot(stage.twiddles, p * j, length);
      }
      for (int64_t k = 0; radix > kLargestWithCode && k < radix; ++k) {
        AddRoot(stage.roots, k, radix);
      }
      tables.stages.push_back(std::move(stage));
    }
  }
  return tables;
}

template <typename T>
FftChirp<T> MakeFftChirp(int64_t n, double scale) {
  FftChirp<T> out;
  const int64_t length = out.padded = PaddedPoints(n);
  std::vector<std::complex<double>> wrapped(static_cast<size_t>(length)), spectrum;
  for (int64_t k = 0; k < n; ++k) {
    // k^2 modulo 2n keeps the angle small, and therefore exact.
    const double angle =
        std::numbers::pi * static_cast<double>(k * k % (2 * n)) / static_cast<double>(n);
    const std::complex<double> inverse = std::polar(1.0, angle);
    AddNumber(out.chirp, std::conj(inverse));
    AddNumber(out.inverse, inverse);
    wrapped[static_cast<size_t>(k)] = inverse;
    if (k > 0) wrapped[static_cast<size_t>(length - k)] = inverse;
  }
  Eigen::FFT<double>().fwd(spectrum, wrapped);
  for (const auto& v : spectrum) AddNumber(out.kernel, v * (scale / static_cast<double>(length)));
  return out;
}

template std::vector<float> HalfTurns(int64_t);
template std::vector<double> HalfTurns(int64_t);
template FftTables<float> MakeFftTables(int64_t, bool);
template FftTables<double> MakeFftTables(int64_t, bool);
template FftChirp<float> MakeFftChirp(int64_t, double);
template FftChirp<double> MakeFftChirp(int64_t, double);

}  // namespace tenon
