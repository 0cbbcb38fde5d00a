#include "kernels/fft/line_fft.h"

#include <bit>
#include <cmath>
#include <numbers>

namespace tenon {
namespace {

// Eigen's cost for a prime factor p is p operations per element; three transforms of at least twice
// the size are worthwhile from about here.
constexpr int64_t kLargePrime = 64;

int64_t LargestPrimeFactor(int64_t n) {
  int64_t largest = 1;
  for (int64_t p = 2; p * p <= n; ++p) {
    for (; n % p == 0; n /= p) largest = p;
  }
  return n > 1 ? n : largest;
}

}  // namespace

LineFft::LineFft(int64_t n) : n_(n) {
  if (LargestPrimeFactor(n) < kLargePrime) return;
  const uint64_t size = std::bit_ceil(2 * static_cast<uint64_t>(n) - 1);
  chirp_.resize(static_cast<size_t>(n));
  std::vector<Complex> inverse(size);
  for (int64_t k = 0; k < n; ++k) {
    // k^2 modulo 2n keeps the angle small, and therefore exact.
    const auto square =
        static_cast<double>(static_cast<unsigned __int128>(k) * static_cast<uint64_t>(k) %
                            (2 * static_cast<uint64_t>(n)));
    const double angle = std::numbers::pi * square / static_cast<double>(n);
    const size_t i = static_cast<size_t>(k);
    chirp_[i] = std::polar(1.0, -angle);
    inverse[i] = std::conj(chirp_[i]);
    if (k > 0) inverse[size - i] = inverse[i];
  }
  fft_.fwd(kernel_, inverse);
}

void LineFft::Chirp(std::vector<Complex>& line) {
  std::vector<Complex> padded(kernel_.size());
  for (size_t k = 0; k < line.size(); ++k) padded[k] = line[k] * chirp_[k];
  fft_.fwd(out_, padded);
  for (size_t k = 0; k < out_.size(); ++k) out_[k] *= kernel_[k];
  fft_.inv(padded, out_);
  for (size_t k = 0; k < line.size(); ++k) line[k] = padded[k] * chirp_[k];
}

void LineFft::Forward(std::vector<Complex>& line) {
  if (!chirp_.empty()) return Chirp(line);
  fft_.fwd(out_, line);
  line.swap(out_);
}

void LineFft::Inverse(std::vector<Complex>& line) {
  if (chirp_.empty()) {
    fft_.inv(out_, line);
    line.swap(out_);
    return;
  }
  for (Complex& v : line) v = std::conj(v);
  Chirp(line);
  for (Complex& v : line) v = std::conj(v) / static_cast<double>(n_);
}

}  // namespace tenon
