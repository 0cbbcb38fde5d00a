#include "kernels/linalg/loops/tridiagonal.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/interface/types.h"
#include "kernels/linalg/loops/batches.h"

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

// Divides a row by its pivot. If that is so small that results could overflow, it is enlarged, by
// `tolerance` first, or both are scaled.
template <typename T>
void DivideRow(T pivot, decltype(std::abs(T())) tolerance, int64_t cols, T* row) {
  using Real = decltype(std::abs(T()));
  constexpr Real kSmallest = std::numeric_limits<Real>::min(), kLargest = 1 / kSmallest;
  Real largest = 0;
  for (int64_t c = 0; c < cols; ++c) largest = std::max(largest, std::abs(row[c]));
  Real step = std::copysign(std::max(tolerance, kSmallest), std::real(pivot));
  for (Real size = std::abs(pivot); size < 1; size = std::abs(pivot)) {
    const bool overflows =
        size < kSmallest ? size == 0 || largest * kSmallest > size : largest > size * kLargest;
    if (overflows) {
      pivot += step;
      step *= 2;
      continue;
    }
    if (size < kSmallest) {
      pivot *= kLargest;
      for (int64_t c = 0; c < cols; ++c) row[c] *= kLargest;
    }
    break;
  }
  const T inverse = T(1) / pivot;
  for (int64_t c = 0; c < cols; ++c) row[c] *= inverse;
}

// The same as SolveOne with pivoting, for matrices that may be singular: LAPACK's xLAGTF and xLAGTS
// (inverse iteration for eigenvectors). Rows are compared by the share that their first element has
// of them; pivots near zero become some epsilons of the largest element.
template <typename T>
void SolveNearlySingular(const T* above, const T* main, const T* below, int64_t n, int64_t cols,
                         T* x) {
  using Real = decltype(std::abs(T()));
  std::vector<T> d(main, main + n), u(above, above + n), u2(static_cast<size_t>(n), T(0));
  u.back() = T(0);
  Real largest = std::max(std::abs(d[0]), std::abs(u[0]));
  Real scale = std::abs(d[0]) + std::abs(u[0]);
  for (int64_t i = 0; i + 1 < n; ++i) {
    const size_t k = static_cast<size_t>(i);
    T* row = x + i * cols;
    T* next = row + cols;
    T low = below[i + 1];
    const Real next_scale = std::abs(low) + std::abs(d[k + 1]) + std::abs(u[k + 1]);
    const Real share = d[k] == T(0) ? 0 : std::abs(d[k]) / scale;
    if (low != T(0) && std::abs(low) / next_scale > share) {
      std::swap(d[k], low);
      std::swap(u[k], d[k + 1]);
      std::swap(u2[k], u[k + 1]);
      std::swap_ranges(row, next, next);
    } else {
      scale = next_scale;
    }
    if (low != T(0)) {
      const T factor = low / d[k];
      d[k + 1] -= factor * u[k];
      u[k + 1] -= factor * u2[k];
      for (int64_t c = 0; c < cols; ++c) next[c] -= factor * row[c];
    }
    if (i + 2 < n) largest = std::max({largest, std::abs(d[k]), std::abs(u[k]), std::abs(u2[k])});
  }
  largest = std::max(largest, std::abs(d.back()));
  const Real tolerance = std::numeric_limits<Real>::epsilon() * largest;
  for (int64_t i = n - 1; i >= 0; --i) {
    const size_t k = static_cast<size_t>(i);
    T* row = x + i * cols;
    for (int64_t c = 0; c < cols; ++c) {
      if (i + 1 < n) row[c] -= u[k] * row[cols + c];
      if (i + 2 < n) row[c] -= u2[k] * row[2 * cols + c];
    }
    DivideRow(d[k], tolerance, cols, row);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> TridiagonalSolve(PrepareContext& p) {
  const MatrixBatch rhs = BatchOf(p.input_shape(1));
  const bool pivoting = p.attrs().Bool("partial_pivoting", true);
  const bool perturbs = p.attrs().Bool("perturb_singular", false);
  const int threads = p.services().threads;
  return DispatchType(TridiagonalTypes{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      const int64_t n = rhs.rows;
      std::copy_n(run.input<T>(1), rhs.count * rhs.size(), run.output<T>(0));
      if (rhs.size() == 0) return absl::OkStatus();
      const double ns = static_cast<double>(n) * (10 + static_cast<double>(rhs.cols));
      return ForMatrices(threads, rhs.count, ns, [&](int64_t b) {
        const T* d = run.input<T>(0) + b * 3 * n;
        T* x = run.output<T>(0) + b * rhs.size();
        if (perturbs) {
          SolveNearlySingular(d, d + n, d + 2 * n, n, rhs.cols, x);
        } else if (!SolveOne(d, d + n, d + 2 * n, n, pivoting, rhs.cols, x)) {
          std::fill_n(x, rhs.size(), std::numeric_limits<T>::quiet_NaN());  // a zero pivot
        }
        return absl::OkStatus();
      });
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
        const T* const x = run.input<T>(3) + row * cols;
        T* const __restrict y = run.output<T>(0) + row * cols;
        const T above = run.input<T>(0)[row], main = run.input<T>(1)[row];
        const T below = run.input<T>(2)[row];
        if (i > 0 && i + 1 < n) {
          for (int64_t c = 0; c < cols; ++c) {
            y[c] = main * x[c] + above * x[c + cols] + below * x[c - cols];
          }
          continue;
        }
        for (int64_t c = 0; c < cols; ++c) {
          y[c] = main * x[c];
          if (i + 1 < n) y[c] += above * x[c + cols];
          if (i > 0) y[c] += below * x[c - cols];
        }
      }
      return absl::OkStatus();
    });
  });
}

}  // namespace tenon
