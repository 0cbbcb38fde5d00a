// Sparse matrices by rows (compressed sparse rows): the objects behind the variant scalars of the
// CSRSparseMatrix and SparseMatrix ops. They do not change once they are made.
#ifndef TENON_KERNELS_SPARSE_CSR_MATRIX_H_
#define TENON_KERNELS_SPARSE_CSR_MATRIX_H_

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/object.h"
#include "kernels/interface/types.h"

namespace tenon {

// One matrix or a batch of them, whose rows follow each other.
struct CsrMatrix final : Object {
  DType dtype = DType::kInvalid;
  Shape shape;    // [rows, columns] or [batches, rows, columns]
  Tensor starts;  // int64: where each of the batch's rows begins in columns and values, and the end
  Tensor columns;  // int32
  Tensor values;

  int64_t batches() const { return shape.rank() == 3 ? shape.dim(0) : 1; }
  int64_t rows() const { return shape.dim(shape.rank() - 2); }
  int64_t width() const { return shape.dim(shape.rank() - 1); }
  int64_t all_rows() const { return batches() * rows(); }
  int64_t count() const { return columns.num_elements(); }
  int64_t start(int64_t row) const { return starts.data<int64_t>()[row]; }

  // With memory for that many elements; no row has any yet. InvalidArgument for other ranks than 2
  // and 3, and sizes that int32 cannot hold.
  static absl::StatusOr<std::shared_ptr<CsrMatrix>> Make(DType dtype, const Shape& shape,
                                                         int64_t count);
};

// A handle's matrix. InvalidArgument if it is none, or one of another dtype (kInvalid: any).
absl::StatusOr<const CsrMatrix*> CsrAt(const ObjectPtr* handle, DType dtype = DType::kInvalid);

// Puts elements given in any order into their rows; in a row, they keep their order. Sets starts
// and columns, and returns where each element's value goes.
std::vector<int64_t> PlaceElements(const std::vector<int64_t>& rows,
                                   const std::vector<int32_t>& columns, CsrMatrix& matrix);

template <typename T>
T Conjugated(T v) {
  if constexpr (kIsComplex<T>) return std::conj(v);
  return v;
}

enum class Conjugate { kNo, kYes };
absl::StatusOr<std::shared_ptr<CsrMatrix>> Transposed(const CsrMatrix& m, Conjugate conjugate);

}  // namespace tenon

#endif  // TENON_KERNELS_SPARSE_CSR_MATRIX_H_
