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

// The least length from n on of which all stages have code of their own.
int64_t FastLength(int64_t n) {
  for (;; ++n) {
    int64_t rest = n;
    for (int64_t radix : {2, 3, 5}) {
      while (rest % radix == 0) rest /= radix;
    }
    if (rest == 1) return n;
  }
}

}  // namespace

bool HasFftStages(int64_t n) {
  if (n < 1) return false;
  for (int64_t radix : kRadices) {
    while (n % radix == 0) n /= radix;
  }
  return n == 1;
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
FftChirp<T> MakeFftChirp(int64_t n) {
  FftChirp<T> out;
  const int64_t length = FastLength(2 * n - 1);
  out.padded = MakeFftTables<T>(length, /*real=*/false);
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
  for (const auto& v : spectrum) AddNumber(out.kernel, v / static_cast<double>(length));
  return out;
}

template std::vector<float> HalfTurns(int64_t);
template std::vector<double> HalfTurns(int64_t);
template FftTables<float> MakeFftTables(int64_t, bool);
template FftTables<double> MakeFftTables(int64_t, bool);
template FftChirp<float> MakeFftChirp(int64_t);
template FftChirp<double> MakeFftChirp(int64_t);

}  // namespace tenon
