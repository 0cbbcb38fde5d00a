#include "kernels/matmul/dense_product.h"

#include <algorithm>
#include <complex>
#include <memory>

#include "env/round_up.h"
#include "hwy/aligned_allocator.h"
#include "kernels/interface/parallel.h"
#include "kernels/matmul/dense_product_simd.h"

namespace tenon {
namespace {

constexpr int64_t kTerms = 256;
constexpr int64_t kBlockRows = 192;  // whose terms stay in the second-level cache

// How one matrix is cut into parts for the threads.
struct Cut {
  int64_t rows = 0, columns = 0;  // of a part
  int64_t row_parts = 1, column_parts = 1;
};

// Along the longer side first: parts of columns read parts of b only, parts of rows parts of a.
template <typename T>
Cut CutFor(const DenseProduct& p, const DenseLoops<T>& loops, int64_t parts) {
  const auto tile_rows = static_cast<int64_t>(loops.rows);
  const auto tile_columns = static_cast<int64_t>(loops.columns);
  const int64_t most_rows = CeilDiv(p.m, tile_rows), most_columns = CeilDiv(p.n, tile_columns);
  Cut cut;
  if (p.n >= p.m) {
    cut.column_parts = std::min(parts, most_columns);
    cut.row_parts = std::min(parts / cut.column_parts, most_rows);
  } else {
    cut.row_parts = std::min(parts, most_rows);
    cut.column_parts = std::min(parts / cut.row_parts, most_columns);
  }
  cut.rows = CeilDiv(most_rows, cut.row_parts) * tile_rows;
  cut.columns = CeilDiv(most_columns, cut.column_parts) * tile_columns;
  return cut;
}

template <typename T>
void MultiplyReal(const DenseProduct& p, const T* a, const T* b, T* out) {
  if (p.batch == 0 || p.m == 0 || p.n == 0) return;
  if (p.k == 0) {
    std::fill_n(out, p.batch * p.m * p.n, T(0));
    return;
  }
  constexpr double kNanoseconds = 0.03 * sizeof(T) / sizeof(double);  // of a multiply-add
  const DenseLoops<T> loops = FindDenseLoops<T>();
  const double ns =
      kNanoseconds * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  const int64_t worth = std::clamp<int64_t>(
      static_cast<int64_t>(ns * static_cast<double>(p.batch) / 1e4), 1, p.threads);
  const Cut cut = CutFor(p, loops, std::max<int64_t>(worth / p.batch, 1));
  const int64_t parts = cut.row_parts * cut.column_parts;
  const auto run = [&](int64_t task, T* panel) {
    const int64_t matrix = task / parts, part = task % parts;
    const int64_t first_row = part / cut.column_parts * cut.rows;
    const int64_t column = part % cut.column_parts * cut.columns;
    const int64_t end_row = std::min(first_row + cut.rows, p.m);
    const int64_t columns = std::min(cut.columns, p.n - column);
    if (columns <= 0) return;
    for (int64_t row = first_row; row < end_row; row += kBlockRows) {
      for (int64_t term = 0; term < p.k; term += kTerms) {
        loops.multiply({.a = a + (matrix * p.m + row) * p.k + term,
                        .a_row = static_cast<size_t>(p.k),
                        .b = b + (matrix * p.k + term) * p.n + column,
                        .b_row = static_cast<size_t>(p.n),
                        .rows = static_cast<size_t>(std::min(kBlockRows, end_row - row)),
                        .columns = static_cast<size_t>(columns),
                        .terms = static_cast<size_t>(std::min(kTerms, p.k - term)),
                        .add = term > 0,
                        .out = out + (matrix * p.m + row) * p.n + column,
                        .out_row = static_cast<size_t>(p.n),
                        .panel = panel});
      }
    }
  };
  const int64_t grain = std::max<int64_t>(p.batch * parts / worth, 1);
  ParallelFor(static_cast<int>(worth), p.batch * parts, grain, [&](int64_t begin, int64_t end) {
    const auto terms = static_cast<size_t>(std::min(kTerms, p.k));
    const auto panel = hwy::AllocateAligned<T>(terms * loops.columns);
    for (int64_t task = begin; task < end; ++task) run(task, panel.get());
  });
}

// A row of a has the real and the imaginary parts of its numbers side by side, so it is the row of
// a real matrix of twice as many columns. Times the rows of b, each followed by itself times i, it
// is the same form of the product's row.
template <typename T>
void MultiplyComplex(const DenseProduct& p, const std::complex<T>* a, const std::complex<T>* b,
                     std::complex<T>* out) {
  const int64_t rows = p.batch * p.k;
  const std::unique_ptr<T[]> pairs(new T[static_cast<size_t>(4 * rows * p.n)]);
  ParallelFor(p.threads, rows, ParallelGrain(static_cast<double>(p.n)),
              [&](int64_t begin, int64_t end) {
                for (int64_t row = begin; row < end; ++row) {
                  const T* const from = reinterpret_cast<const T*>(b + row * p.n);
                  T* const to = pairs.get() + 4 * row * p.n;
                  T* const times_i = to + 2 * p.n;
                  for (int64_t j = 0; j < p.n; ++j) {
                    to[2 * j] = from[2 * j];
                    to[2 * j + 1] = from[2 * j + 1];
                    times_i[2 * j] = -from[2 * j + 1];
                    times_i[2 * j + 1] = from[2 * j];
                  }
                }
              });
  MultiplyReal({p.batch, p.m, 2 * p.n, 2 * p.k, p.threads}, reinterpret_cast<const T*>(a),
               pairs.get(), reinterpret_cast<T*>(out));
}

}  // namespace

template <>
void MultiplyDense(const DenseProduct& p, const float* a, const float* b, float* out) {
  MultiplyReal(p, a, b, out);
}
template <>
void MultiplyDense(const DenseProduct& p, const double* a, const double* b, double* out) {
  MultiplyReal(p, a, b, out);
}
template <>
void MultiplyDense(const DenseProduct& p, const uint32_t* a, const uint32_t* b, uint32_t* out) {
  MultiplyReal(p, a, b, out);
}
template <>
void MultiplyDense(const DenseProduct& p, const std::complex<float>* a,
                   const std::complex<float>* b, std::complex<float>* out) {
  MultiplyComplex(p, a, b, out);
}
template <>
void MultiplyDense(const DenseProduct& p, const std::complex<double>* a,
                   const std::complex<double>* b, std::complex<double>* out) {
  MultiplyComplex(p, a, b, out);
}

}  // namespace tenon
