// Loops over the columns of dense matrices of which Householder reflections are made and applied.
#ifndef TENON_KERNELS_SIMD_COLUMN_LOOPS_SIMD_H_
#define TENON_KERNELS_SIMD_COLUMN_LOOPS_SIMD_H_

#include <cstddef>

namespace tenon {

// A matrix stored column by column. Columns begin at multiples of kColumnBytes (rotations_simd.h)
// and are filled up to one with zeros. So are the vectors of `rows` elements below.
template <typename S>
struct ColumnSpan {
  S* first = nullptr;
  size_t stride = 0;  // elements from column to column
  size_t rows = 0;
  size_t count = 0;
};

// I - factors[k] v_k v_k^H, where v_k, column k of `v`, has zeros above row first_row + k.
template <typename S>
struct ReflectionBlock {
  ColumnSpan<const S> v;
  const S* factors = nullptr;
  size_t first_row = 0;
  bool backward = false;  // the last one first
};

// Each column gets f[j] x + g[j] y added; then products[j] = z^H column.
template <typename S>
struct ColumnUpdate {
  size_t first_row = 0;  // rows before it need not be updated, and z is 0 there
  const S *x = nullptr, *f = nullptr, *y = nullptr, *g = nullptr, *z = nullptr;
  S* products = nullptr;
};

template <typename S>
struct ColumnLoops {
  // Multiplies by reflections on the left, one after the other.
  void (*reflect)(const ReflectionBlock<S>& reflections, const ColumnSpan<S>& m);
  void (*update)(const ColumnUpdate<S>& u, const ColumnSpan<S>& m);
  // `products` = m u, in rows from first_row on; the others may have any value.
  void (*multiply)(const ColumnSpan<S>& m, size_t first_row, const S* u, S* products);
  // The same as `update` for the square part of a Hermitian matrix from row and column first_row
  // on, of which only the lower triangle is read and written, but products = m z.
  void (*update_hermitian)(const ColumnUpdate<S>& u, const ColumnSpan<S>& m);
};
template <typename S>  // float, double, std::complex<double>
ColumnLoops<S> FindColumnLoops();

}  // namespace tenon

#endif  // TENON_KERNELS_SIMD_COLUMN_LOOPS_SIMD_H_
