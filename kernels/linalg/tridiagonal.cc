#include "kernels/linalg/tridiagonal.h"

#include <cmath>
#include <limits>

#include "kernels/interface/types.h"
#include "kernels/linalg/batches.h"

namespace tenon {
namespace {

using TridiagonalTypes = TypeList<float, double, complex64, complex128>;

// Gaussian elimination; pivoting may swap a row with the next one, which fills a second
// superdiagonal.
template <typename T>
bool SolveOne(const T* above, const T* main, const T* below, int64_t n, bool pivoting, int64_t cols,
              T* x) {
  std::vector<T> d(main, main + n), u(above, above + n), u2(static_cast<size_t>(n), T(0));
  u.back() = T(0);
  for (int64_t i = 0; i + 1 < n; ++i) {
    const size_t k = static_cast<size_t>(i);
    T* row = x + i * cols;
    T* next = row + cols;
    T low = below[i + 1];
    if (pivoting && std::abs(low) > std::abs(d[k])) {
      std::swap(d[k], low);
      std::swap(u[k], d[k + 1]);
      std::swap(u2[k], u[k + 1]);
      std::swap_ranges(row, next, next);
    }
    if (d[k] == T(0)) return false;
    const T factor = low / d[k];
    d[k + 1] -= factor * u[k];
    u[k + 1] -= factor * u2[k];
    for (int64_t c = 0; c < cols; ++c) next[c] -= factor * row[c];
  }
  for (int64_t i = n - 1; i >= 0; --i) {
    const size_t k = static_cast<size_t>(i);
    if (d[k] == T(0)) return false;
    for (int64_t c = 0; c < cols; ++c) {
      T v = x[i * cols + c];
      if (i + 1 < n) v -= u[k] * x[(i + 1) * cols + c];
      if (i + 2 < n) v -= u2[k] * x[(i + 2) * cols + c];
      x[i * cols + c] = v / d[k];
    }
  }
  return true;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> TridiagonalSolve(PrepareContext& p) {
  const MatrixBatch rhs = BatchOf(p.input_shape(1));
  const bool pivoting = p.attrs().Bool("partial_pivoting", true);
  return DispatchType(TridiagonalTypes{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      const int64_t n = rhs.rows;
      std::copy_n(run.input<T>(1), rhs.count * rhs.size(), run.output<T>(0));
      if (rhs.size() == 0) return absl::OkStatus();
      for (int64_t b = 0; b < rhs.count; ++b) {
        const T* d = run.input<T>(0) + b * 3 * n;
        T* x = run.output<T>(0) + b * rhs.size();
        if (!SolveOne(d, d + n, d + 2 * n, n, pivoting, rhs.cols, x)) {
          std::fill_n(x, rhs.size(), std::numeric_limits<T>::quiet_NaN());  // a zero pivot
        }
      }
      return absl::OkStatus();
    });
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> TridiagonalMatMul(PrepareContext& p) {
  const MatrixBatch rhs = BatchOf(p.input_shape(3));
  return DispatchType(TridiagonalTypes{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([rhs](RunContext& run) {
      const int64_t n = rhs.rows, cols = rhs.cols;
      for (int64_t row = 0; row < rhs.count * n; ++row) {
        const int64_t i = row % n;
        const T* x = run.input<T>(3) + row * cols;
        T* y = run.output<T>(0) + row * cols;
        for (int64_t c = 0; c < cols; ++c) {
          y[c] = run.input<T>(1)[row] * x[c];
          if (i + 1 < n) y[c] += run.input<T>(0)[row] * x[c + cols];
          if (i > 0) y[c] += run.input<T>(2)[row] * x[c - cols];
        }
      }
      return absl::OkStatus();
    });
  });
}

}  // namespace tenon
