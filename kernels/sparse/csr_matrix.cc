#include "kernels/sparse/csr_matrix.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "env/status.h"

namespace tenon {

absl::StatusOr<std::shared_ptr<CsrMatrix>> CsrMatrix::Make(DType dtype, const Shape& shape,
                                                           int64_t count) {
  if (shape.rank() != 2 && shape.rank() != 3) {
    return InvalidArgument("a sparse matrix of shape ", shape.ToString());
  }
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  int64_t rows = 1;
  for (int i = 0; i < shape.rank(); ++i) {
    const bool fits = shape.dim(i) >= 0 && shape.dim(i) < kMost && count <= kMost;
    if (!fits || (i + 1 < shape.rank() && __builtin_mul_overflow(rows, shape.dim(i), &rows))) {
      return InvalidArgument("a sparse matrix of shape ", shape.ToString(), " with ", count,
                             " elements is too large");
    }
  }
  auto m = std::make_shared<CsrMatrix>();
  m->dtype = dtype;
  m->shape = shape;
  TENON_ASSIGN_OR_RETURN(m->starts, Tensor::Allocate(DType::kInt64, Shape({rows + 1})));
  TENON_ASSIGN_OR_RETURN(m->columns, Tensor::Allocate(DType::kInt32, Shape({count})));
  TENON_ASSIGN_OR_RETURN(m->values, Tensor::Allocate(dtype, Shape({count})));
  std::fill_n(m->starts.data<int64_t>(), rows + 1, int64_t{0});
  return m;
}

absl::StatusOr<const CsrMatrix*> CsrAt(const ObjectPtr* handle, DType dtype) {
  const auto* matrix = dynamic_cast<const CsrMatrix*>(handle->get());
  if (matrix == nullptr) return InvalidArgument("the variant does not hold a sparse matrix");
  if (dtype != DType::kInvalid && matrix->dtype != dtype) {
    return InvalidArgument("a sparse matrix of ", Name(matrix->dtype), " instead of ", Name(dtype));
  }
  return matrix;
}

std::vector<int64_t> PlaceElements(const std::vector<int64_t>& rows,
                                   const std::vector<int32_t>& columns, CsrMatrix& matrix) {
  const auto starts = matrix.starts.flat<int64_t>();
  for (int64_t row : rows) ++starts[static_cast<size_t>(row) + 1];
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  std::vector<int64_t> next(starts.begin(), starts.end()), places(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    places[i] = next[static_cast<size_t>(rows[i])]++;
    matrix.columns.data<int32_t>()[places[i]] = columns[i];
  }
  return places;
}

absl::StatusOr<std::shared_ptr<CsrMatrix>> Transposed(const CsrMatrix& m, Conjugate conjugate) {
  Shape shape = m.shape;
  shape.set_dim(shape.rank() - 2, m.width());
  shape.set_dim(shape.rank() - 1, m.rows());
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<CsrMatrix> out,
                         CsrMatrix::Make(m.dtype, shape, m.count()));
  std::vector<int64_t> rows;
  std::vector<int32_t> columns;
  for (int64_t row = 0; row < m.all_rows(); ++row) {
    for (int64_t i = m.start(row); i < m.start(row + 1); ++i) {
      rows.push_back(row / m.rows() * m.width() + m.columns.data<int32_t>()[i]);
      columns.push_back(static_cast<int32_t>(row % m.rows()));
    }
  }
  const std::vector<int64_t> places = PlaceElements(rows, columns, *out);
  VisitTypes(Numbers{}, m.dtype, [&]<typename T>() {
    for (size_t i = 0; i < places.size(); ++i) {
      const T v = m.values.data<T>()[i];
      out->values.data<T>()[places[i]] = conjugate == Conjugate::kYes ? Conjugated(v) : v;
    }
  });
  return out;
}

}  // namespace tenon
