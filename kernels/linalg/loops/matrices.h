// Conversions between tensors and Eigen matrices. Decompositions are compiled for three scalar
// types; the dtypes in memory are converted on the way in and out.
#ifndef TENON_KERNELS_LINALG_LOOPS_MATRICES_H_
#define TENON_KERNELS_LINALG_LOOPS_MATRICES_H_

#include <Eigen/Core>
#include <cstdint>

#include "kernels/interface/types.h"
#include "kernels/linalg/loops/batches.h"

namespace tenon {

template <typename S>
using Matrix = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

using MatrixScalars = TypeList<float, double, complex128>;
using WideScalars = TypeList<double, complex128>;

// The scalar type in which matrices of `dtype` are computed: float for half and bfloat16,
// complex128 for complex64.
DType MatrixDType(DType dtype);
// double or complex128, so that one instantiation of a long algorithm serves all dtypes.
DType WideDType(DType dtype);

// Matrix `index` of a tensor of `dtype`, with the rows and columns in `batch`. S is dtype's
// MatrixDType or WideDType.
template <typename S>
Matrix<S> LoadMatrix(DType dtype, const void* tensor, const MatrixBatch& batch, int64_t index);

// Stores n elements, rounded, starting at element `at` of a tensor of `dtype`.
template <typename S>
void StoreElements(const S* elements, int64_t n, DType dtype, void* tensor, int64_t at);

// Stores m as matrix `index` of a tensor of matrices of that size.
template <typename S>
void StoreMatrix(const Matrix<S>& m, DType dtype, void* tensor, int64_t index) {
  StoreElements(m.data(), m.size(), dtype, tensor, index * m.size());
}

// a * b, by vector code. (Each form of product that Eigen's expressions have takes seconds to
// compile.)
template <typename S>
Matrix<S> Product(const Matrix<S>& a, const Matrix<S>& b);

}  // namespace tenon

#endif  // TENON_KERNELS_LINALG_LOOPS_MATRICES_H_
