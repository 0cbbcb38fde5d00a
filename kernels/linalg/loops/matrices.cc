#include "kernels/linalg/loops/matrices.h"

#include <algorithm>
#include <type_traits>

#include "kernels/matmul/dense_product.h"

namespace tenon {
namespace {

template <typename S>
using StoredTypes =
    std::conditional_t<std::is_same_v<S, float>, TypeList<float, half, bfloat16>,
                       std::conditional_t<std::is_same_v<S, double>,
                                          TypeList<float, double, half, bfloat16>, Complexes>>;

}  // namespace

DType MatrixDType(DType dtype) {
  if (dtype == DType::kHalf || dtype == DType::kBfloat16) return DType::kFloat;
  return dtype == DType::kComplex64 ? DType::kComplex128 : dtype;
}

DType WideDType(DType dtype) {
  const bool complex = dtype == DType::kComplex64 || dtype == DType::kComplex128;
  return complex ? DType::kComplex128 : DType::kDouble;
}

template <typename S>
Matrix<S> LoadMatrix(DType dtype, const void* tensor, const MatrixBatch& batch, int64_t index) {
  Matrix<S> m(batch.rows, batch.cols);
  VisitTypes(StoredTypes<S>{}, dtype, [&]<typename T>() {
    const T* from = static_cast<const T*>(tensor) + index * batch.size();
    if constexpr (std::is_same_v<S, T>) {
      std::copy_n(from, batch.size(), m.data());
    } else {
      std::transform(from, from + batch.size(), m.data(),
                     [](const T& v) { return static_cast<S>(ToCompute(v)); });
    }
  });
  return m;
}

template <typename S>
void StoreElements(const S* elements, int64_t n, DType dtype, void* tensor, int64_t at) {
  VisitTypes(StoredTypes<S>{}, dtype, [&]<typename T>() {
    T* const to = static_cast<T*>(tensor) + at;
    if constexpr (std::is_same_v<S, T>) {
      std::copy_n(elements, n, to);
    } else {
      std::transform(elements, elements + n, to,
                     [](const S& v) { return static_cast<T>(static_cast<ComputeType<T>>(v)); });
    }
  });
}

template <typename S>
Matrix<S> Product(const Matrix<S>& a, const Matrix<S>& b) {
  Matrix<S> out(a.rows(), b.cols());
  MultiplyDense({.m = a.rows(), .n = b.cols(), .k = a.cols()}, a.data(), b.data(), out.data());
  return out;
}

template Matrix<float> LoadMatrix(DType, const void*, const MatrixBatch&, int64_t);
template Matrix<double> LoadMatrix(DType, const void*, const MatrixBatch&, int64_t);
template Matrix<complex128> LoadMatrix(DType, const void*, const MatrixBatch&, int64_t);
template void StoreElements(const float*, int64_t, DType, void*, int64_t);
template void StoreElements(const double*, int64_t, DType, void*, int64_t);
template void StoreElements(const complex128*, int64_t, DType, void*, int64_t);
template Matrix<float> Product(const Matrix<float>&, const Matrix<float>&);
template Matrix<double> Product(const Matrix<double>&, const Matrix<double>&);
template Matrix<complex128> Product(const Matrix<complex128>&, const Matrix<complex128>&);

}  // namespace tenon
