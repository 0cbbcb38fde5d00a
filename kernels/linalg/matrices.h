// What the linear algebra ops share: tensors as batches of row-major matrices, seen through Eigen.
#ifndef TENON_KERNELS_LINALG_MATRICES_H_
#define TENON_KERNELS_LINALG_MATRICES_H_

#include <Eigen/Core>
#include <cstdint>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"
#include "kernels/interface/types.h"

namespace tenon {

using MatrixTypes = TypeList<float, double, half, complex64, complex128>;

template <typename T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// half is computed in float.
template <typename T>
Matrix<ComputeType<T>> LoadMatrix(const T* data, int64_t rows, int64_t cols) {
  return Eigen::Map<const Matrix<T>>(data, rows, cols).template cast<ComputeType<T>>();
}
template <typename T, typename M>
void StoreMatrix(const M& m, T* data) {
  Eigen::Map<Matrix<T>>(data, m.rows(), m.cols()) = m.template cast<T>();
}

// The matrices of a shape of at least two dimensions.
struct MatrixBatch {
  int64_t count = 1;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t size() const { return rows * cols; }
};
MatrixBatch BatchOf(const Shape& shape);

}  // namespace tenon

#endif  // TENON_KERNELS_LINALG_MATRICES_H_
