#include "kernels/sparse/csr_convert.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "env/status.h"
#include "kernels/interface/shape_at_run.h"
#include "kernels/interface/types.h"
#include "kernels/layout/copy.h"
#include "kernels/lists/tensor_list.h"
#include "kernels/sparse/csr_matrix.h"

namespace tenon {
namespace {

struct Elements {
  std::shared_ptr<CsrMatrix> matrix;
  std::vector<int64_t> places;  // of the values
};

// Rows and columns in place; values are not set.
absl::StatusOr<Elements> AtIndices(DType dtype, const Shape& shape, const int64_t* indices,
                                   int64_t count) {
  Elements e;
  TENON_ASSIGN_OR_RETURN(e.matrix, CsrMatrix::Make(dtype, shape, count));
  std::vector<int64_t> rows(static_cast<size_t>(count));
  std::vector<int32_t> columns(static_cast<size_t>(count));
  const int rank = shape.rank();
  for (int64_t i = 0; i < count; ++i, indices += rank) {
    int64_t row = 0;
    for (int d = 0; d < rank; ++d) {
      if (indices[d] < 0 || indices[d] >= shape.dim(d)) {
        return InvalidArgument("indices[", i, ", ", d, "] = ", indices[d],
                               " is out of bounds of a matrix of shape ", shape.ToString());
      }
      if (d + 1 < rank) row = row * shape.dim(d) + indices[d];
    }
    rows[static_cast<size_t>(i)] = row;
    columns[static_cast<size_t>(i)] = static_cast<int32_t>(indices[rank - 1]);
  }
  e.places = PlaceElements(rows, columns, *e.matrix);
  return e;
}

template <typename T>
absl::StatusOr<T*> OutputAt(RunContext& run, int i, const Shape& planned, const Shape& actual) {
  TENON_ASSIGN_OR_RETURN(void* data, OutputOfShape(run, i, planned, actual));
  return static_cast<T*>(data);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> CsrFromSparseKernel(PrepareContext& p) {
  const int64_t count = p.input_shape(0).dim(0), rank = p.input_shape(0).dim(1);
  const DType dtype = p.input_dtype(1);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const Shape shape, ShapeAtRun(run, DType::kInt64, rank, 2));
    TENON_ASSIGN_OR_RETURN(Elements e, AtIndices(dtype, shape, run.input<int64_t>(0), count));
    VisitStorage(dtype, [&]<typename T>() {
      const T* values = run.input<T>(1);
      for (int64_t place : e.places) e.matrix->values.data<T>()[place] = *values++;
    });
    *run.output<ObjectPtr>(0) = std::move(e.matrix);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> CsrFromDenseKernel(PrepareContext& p) {
  const Shape shape = p.input_shape(0);
  const int64_t count = p.input_shape(1).dim(0);
  const DType dtype = p.input_dtype(0);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    const int64_t* indices = run.input<int64_t>(1);
    TENON_ASSIGN_OR_RETURN(Elements e, AtIndices(dtype, shape, indices, count));
    VisitStorage(dtype, [&]<typename T>() {
      for (int64_t place : e.places) {
        int64_t at = 0;
        for (int64_t size : shape.dims()) at = at * size + *indices++;
        e.matrix->values.data<T>()[place] = run.input<T>(0)[at];
      }
    });
    *run.output<ObjectPtr>(0) = std::move(e.matrix);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> CsrZerosKernel(PrepareContext& p) {
  const int64_t rank = p.input_shape(0).dim(0);
  TENON_ASSIGN_OR_RETURN(const DType dtype, p.attrs().Type("type"));
  return MakeKernel([=](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const Shape shape, ShapeAtRun(run, DType::kInt64, rank));
    TENON_ASSIGN_OR_RETURN(*run.output<ObjectPtr>(0), CsrMatrix::Make(dtype, shape, 0));
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> CsrToSparseKernel(PrepareContext& p) {
  const DType dtype = p.output_dtype(1);
  const std::vector<Shape> planned = {p.output_shape(0), p.output_shape(1), p.output_shape(2)};
  return MakeKernel([=](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const CsrMatrix* m, CsrAt(run.input<ObjectPtr>(0), dtype));
    const int64_t rank = m->shape.rank();
    TENON_ASSIGN_OR_RETURN(int64_t * indices,
                           OutputAt<int64_t>(run, 0, planned[0], Shape({m->count(), rank})));
    TENON_ASSIGN_OR_RETURN(void* values, OutputOfShape(run, 1, planned[1], Shape({m->count()})));
    TENON_ASSIGN_OR_RETURN(int64_t * shape, OutputAt<int64_t>(run, 2, planned[2], Shape({rank})));
    for (int64_t row = 0; row < m->all_rows(); ++row) {
      for (int64_t i = m->start(row); i < m->start(row + 1); ++i) {
        if (rank == 3) *indices++ = row / m->rows();
        *indices++ = row % m->rows();
        *indices++ = m->columns.data<int32_t>()[i];
      }
    }
    CopyElements(dtype, m->values.raw(), values, m->count());
    std::copy(m->shape.dims().begin(), m->shape.dims().end(), shape);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> CsrToDenseKernel(PrepareContext& p) {
  const DType dtype = p.output_dtype(0);
  const Shape planned = p.output_shape(0);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const CsrMatrix* m, CsrAt(run.input<ObjectPtr>(0), dtype));
    TENON_RETURN_IF_ERROR(m->shape.CheckedElements().status());
    TENON_ASSIGN_OR_RETURN(void* out, OutputOfShape(run, 0, planned, m->shape));
    VisitTypes(Numbers{}, dtype, [&]<typename T>() {
      T* to = static_cast<T*>(out);
      std::fill_n(to, m->shape.num_elements(), T(0));
      for (int64_t row = 0; row < m->all_rows(); ++row, to += m->width()) {
        for (int64_t i = m->start(row); i < m->start(row + 1); ++i) {
          to[m->columns.data<int32_t>()[i]] = m->values.data<T>()[i];
        }
      }
    });
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> CsrComponentsKernel(PrepareContext& p) {
  const DType dtype = p.output_dtype(2);
  const std::vector<Shape> planned = {p.output_shape(0), p.output_shape(1), p.output_shape(2)};
  return MakeKernel([=](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const CsrMatrix* m, CsrAt(run.input<ObjectPtr>(0), dtype));
    const int64_t index = *run.input<int32_t>(1);
    if (index < 0 || index >= m->batches()) {
      return InvalidArgument("index ", index, " of ", m->batches(), " matrices");
    }
    const int64_t first = index * m->rows(), begin = m->start(first);
    const int64_t count = m->start(first + m->rows()) - begin;
    TENON_ASSIGN_OR_RETURN(int32_t * rows,
                           OutputAt<int32_t>(run, 0, planned[0], Shape({m->rows() + 1})));
    TENON_ASSIGN_OR_RETURN(int32_t * columns,
                           OutputAt<int32_t>(run, 1, planned[1], Shape({count})));
    TENON_ASSIGN_OR_RETURN(void* values, OutputOfShape(run, 2, planned[2], Shape({count})));
    for (int64_t i = 0; i <= m->rows(); ++i) {
      rows[i] = static_cast<int32_t>(m->start(first + i) - begin);
    }
    std::copy_n(m->columns.data<int32_t>() + begin, count, columns);
    CopyElements(dtype, ElementAddress(m->values.raw(), dtype, begin), values, count);
    return absl::OkStatus();
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> CsrCountKernel(PrepareContext& p) {
  const Shape planned = p.output_shape(0);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const CsrMatrix* m, CsrAt(run.input<ObjectPtr>(0)));
    const Shape shape = m->shape.rank() == 2 ? Shape() : Shape({m->batches()});
    TENON_ASSIGN_OR_RETURN(int32_t * counts, OutputAt<int32_t>(run, 0, planned, shape));
    for (int64_t b = 0; b < m->batches(); ++b) {
      counts[b] = static_cast<int32_t>(m->start((b + 1) * m->rows()) - m->start(b * m->rows()));
    }
    return absl::OkStatus();
  });
}

}  // namespace tenon
