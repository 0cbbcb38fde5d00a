// Blocks of products of floats, doubles or 32-bit integers, compiled for each instruction set.
#ifndef TENON_KERNELS_MATMUL_DENSE_PRODUCT_SIMD_H_
#define TENON_KERNELS_MATMUL_DENSE_PRODUCT_SIMD_H_

#include <cstddef>

namespace tenon {

// out[rows, columns] (+)= a[rows, terms] * b[terms, columns]. No size is 0. A sum has one
// accumulator, so that terms should be few.
template <typename T>
struct DenseBlock {
  const T* a = nullptr;
  size_t a_row = 0;  // elements from row to row
  const T* b = nullptr;
  size_t b_row = 0;
  size_t rows = 0, columns = 0, terms = 0;
  bool add = false;  // to out
  T* out = nullptr;
  size_t out_row = 0;
  T* panel = nullptr;  // for terms * DenseLoops::columns elements, on a cache line
};

// out[row * out_step + column] (+)= the sum over terms of
//   a[row * a_step + a_terms[term] + column] * b[b_terms[term] + column].
template <typename T>
struct RowProducts {
  const T* a = nullptr;
  const ptrdiff_t* a_terms = nullptr;
  ptrdiff_t a_step = 0;
  const T* b = nullptr;
  const ptrdiff_t* b_terms = nullptr;
  size_t terms = 0, rows = 0, columns = 0;
  bool add = false;  // to out
  T* out = nullptr;
  ptrdiff_t out_step = 0;
};

template <typename T>
struct DenseLoops {
  void (*multiply_rows)(const RowProducts<T>& products) = nullptr;  // of doubles
  void (*multiply)(const DenseBlock<T>& block) = nullptr;
  size_t rows = 0, columns = 0;  // computed together: blocks should be multiples of these
};
template <typename T>
DenseLoops<T> FindDenseLoops();

}  // namespace tenon

#endif  // TENON_KERNELS_MATMUL_DENSE_PRODUCT_SIMD_H_
