#include "kernels/fft/fft_lines.h"

#include <cmath>
#include <numbers>

namespace tenon {
namespace {

// Radix 4 costs least per point. The last ones take radix^2 operations.
constexpr int64_t kRadices[] = {4, 2, 3, 5, 7, 11, 13};
constexpr int64_t kLargestWithCode = 5;

// exp(-2 pi i k / n), exact to the last bit or nearly so.
void AddRoot(std::vector<float>& to, int64_t k, int64_t n) {
  const double angle = -2 * std::numbers::pi * static_cast<double>(k % n) / static_cast<double>(n);
  to.push_back(static_cast<float>(std::cos(angle)));
  to.push_back(static_cast<float>(std::sin(angle)));
}

}  // namespace

bool HasFftStages(int64_t n) {
  if (n < 1) return false;
  for (int64_t radix : kRadices) {
    while (n % radix == 0) n /= radix;
  }
  return n == 1;
}

FftTables MakeFftTables(int64_t points, bool real) {
  FftTables tables;
  tables.points = static_cast<size_t>(points);
  int64_t length = points;
  for (int64_t radix : kRadices) {
    for (; length % radix == 0; length /= radix) {
      FftTables::Stage stage;
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
  for (int64_t k = 0; real && k <= points; ++k) AddRoot(tables.half_turns, k, 2 * points);
  return tables;
}

}  // namespace tenon
