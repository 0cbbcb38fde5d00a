// What solvers and matrix functions share: double precision, and batches that broadcast.
#ifndef TENON_KERNELS_LINALG_SYSTEMS_H_
#define TENON_KERNELS_LINALG_SYSTEMS_H_

#include "kernels/linalg/matrices.h"

namespace tenon {

// Double precision, where one instantiation of a long algorithm serves all dtypes.
template <typename T>
using WideType = std::conditional_t<kIsComplex<T>, complex128, double>;
template <typename T>
Matrix<WideType<T>> LoadWide(const T* data, int64_t rows, int64_t cols) {
  return LoadMatrix(data, rows, cols).template cast<WideType<T>>();
}

// Which matrix of `shape`'s batch the one at `index` of the broadcast batch `out` is.
inline int64_t BatchIndex(const Shape& shape, const Shape& out, int64_t index) {
  int64_t at = 0, stride = 1;
  for (int k = 1; k <= out.rank(); ++k) {
    const int64_t d = out.dim(out.rank() - k), i = index % d;
    index /= d;
    if (k > shape.rank()) continue;
    const int64_t size = shape.dim(shape.rank() - k);
    if (size != 1) at += i * stride;
    stride *= size;
  }
  return at;
}

}  // namespace tenon

#endif  // TENON_KERNELS_LINALG_SYSTEMS_H_
