// Blocks of products of doubles, compiled for each instruction set.
#ifndef TENON_KERNELS_MATMUL_DOUBLE_PRODUCT_SIMD_H_
#define TENON_KERNELS_MATMUL_DOUBLE_PRODUCT_SIMD_H_

#include <cstddef>

namespace tenon {

// out[rows, columns] (+)= a[rows, terms] * b[terms, columns]. No size is 0. A sum has one
// accumulator, so that terms should be few.
struct DoubleBlock {
  const double* a = nullptr;
  size_t a_row = 0;  // elements from row to row
  const double* b = nullptr;
  size_t b_row = 0;
  size_t rows = 0, columns = 0, terms = 0;
  bool add = false;  // to out
  double* out = nullptr;
  size_t out_row = 0;
  double* panel = nullptr;  // for terms * DoubleLoops::columns elements, on a cache line
};

struct DoubleLoops {
  void (*multiply)(const DoubleBlock& block) = nullptr;
  size_t rows = 0, columns = 0;  // computed together: blocks should be multiples of these
};
DoubleLoops FindDoubleLoops();

}  // namespace tenon

#endif  // TENON_KERNELS_MATMUL_DOUBLE_PRODUCT_SIMD_H_
