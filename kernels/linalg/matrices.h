// Eigen matrices from tensors and back. Decompositions are compiled for four scalar types; the
// dtypes in memory are converted on the way in and out.
#ifndef TENON_KERNELS_LINALG_MATRICES_H_
#define TENON_KERNELS_LINALG_MATRICES_H_

#include <Eigen/Core>
#include <cstdint>

#include "kernels/interface/types.h"
#include "kernels/linalg/batches.h"

namespace tenon {

template <typename S>
using Matrix = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

using MatrixScalars = TypeList<float, double, complex64, complex128>;
using WideScalars = TypeList<double, complex128>;

// The scalar type that matrices of `dtype` are computed in: float for half and bfloat16.
DType MatrixDType(DType dtype);
// double or complex128, where one instantiation of a long algorithm serves all dtypes.
DType WideDType(DType dtype);

// Matrix `index` of a tensor of `dtype`, each of `batch`'s rows and columns. S is dtype's
// MatrixDType or WideDType.
template <typename S>
Matrix<S> LoadMatrix(DType dtype, const void* tensor, const MatrixBatch& batch, int64_t index);

// Stores n elements from element `at` of a tensor of `dtype` on, rounded.
template <typename S>
void StoreElements(const S* elements, int64_t n, DType dtype, void* tensor, int64_t at);

// Stores m as matrix `index` of a tensor of matrices of its size.
template <typename S>
void StoreMatrix(const Matrix<S>& m, DType dtype, void* tensor, int64_t index) {
  StoreElements(m.data(), m.size(), dtype, tensor, index * m.size());
}

}  // namespace tenon

#endif  // TENON_KERNELS_LINALG_MATRICES_H_
