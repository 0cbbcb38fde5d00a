// MatrixDiag, V2, V3 make matrices from diagonals; MatrixDiagPart, V2, V3 extract diagonals;
// MatrixSetDiag, V2, V3 replace them. The BatchMatrix names are from TensorFlow's first versions.
#include "kernels/layout/matrix_diag.h"

#include "kernels/interface/axis.h"
#include "kernels/layout/diagonals.h"
#include "ops/op.h"

namespace tenon {
namespace {

// The shape of the matrix that diagonals fill: at least `rows` and `cols` if these are given (not
// -1).
absl::StatusOr<Shape> MatrixOf(const Shape& diagonal, const Diagonals& d, int64_t rows,
                               int64_t cols) {
  const int rank = diagonal.rank();
  Shape out(diagonal.dims().subspan(0, static_cast<size_t>(rank - (d.count() > 1 ? 2 : 1))));
  if (d.count() > 1 && diagonal.dim(rank - 2) >= 0 && diagonal.dim(rank - 2) != d.count()) {
    return InvalidArgument("diagonal has ", diagonal.dim(rank - 2), " rows for k = [", d.lower,
                           ", ", d.upper, "]");
  }
  const int64_t longest = diagonal.dim(rank - 1);
  if (longest < 0) {
    out.push_back(rows);
    out.push_back(cols);
    return out;
  }
  const int64_t least_rows = longest - std::min<int64_t>(d.upper, 0);
  const int64_t least_cols = longest + std::max<int64_t>(d.lower, 0);
  if ((rows != -1 && rows < least_rows) || (cols != -1 && cols < least_cols)) {
    return InvalidArgument("a matrix of ", rows, " by ", cols, " is too small");
  }
  if (rows == -1 && cols == -1) {
    rows = cols = std::max(least_rows, least_cols);
  } else if (rows == -1) {
    rows = least_rows;
  } else if (cols == -1) {
    cols = least_cols;
  }
  if (rows != least_rows && cols != least_cols) {
    return InvalidArgument("a matrix of ", rows, " by ", cols, " has longer diagonals");
  }
  out.push_back(rows);
  out.push_back(cols);
  if (out.IsComplete()) TENON_RETURN_IF_ERROR(out.CheckedElements().status());
  return out;
}

absl::Status MatrixDiagShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  if (in.has_rank() && in.rank() < 1) return InvalidArgument("diagonal must not be a scalar");
  const bool parameters = c.num_inputs() > 1;
  if (!in.has_rank() || (parameters && !ValuesKnown(c, 1, 3))) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const Diagonals d,
                         MakeDiagonals(c.attrs(), parameters ? c.value(1) : nullptr));
  if (d.count() > 1 && in.rank() < 2) {
    return InvalidArgument("diagonal must be a matrix for ", d.count(), " diagonals");
  }
  int64_t rows = -1, cols = -1;
  if (parameters) {
    TENON_ASSIGN_OR_RETURN(rows, ScalarInteger(*c.value(2), "num_rows"));
    TENON_ASSIGN_OR_RETURN(cols, ScalarInteger(*c.value(3), "num_cols"));
    if (rows < -1 || cols < -1) return InvalidArgument("a negative number of rows or columns");
    if (c.input(4).IsComplete() && c.input(4).num_elements() != 1) {
      return InvalidArgument("padding_value must be a scalar");
    }
  }
  TENON_ASSIGN_OR_RETURN(Shape out, MatrixOf(in, d, rows, cols));
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status ExpectMatrices(const Shape& in) {
  if (in.rank() >= 2) return absl::OkStatus();
  return InvalidArgument("input must have at least 2 dimensions, but has shape ", in.ToString());
}

// [batch..., diagonals, longest], without `diagonals` if there is only one.
Shape PackedShape(const Shape& matrices, const Diagonals& d) {
  const int rank = matrices.rank();
  Shape out(matrices.dims().subspan(0, static_cast<size_t>(rank - 2)));
  if (d.count() > 1) out.push_back(d.count());
  const int64_t rows = matrices.dim(rank - 2), cols = matrices.dim(rank - 1);
  out.push_back(rows < 0 || cols < 0 ? -1 : std::max<int64_t>(0, d.Longest(rows, cols)));
  return out;
}

absl::Status MatrixDiagPartShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  if (!in.has_rank()) return absl::OkStatus();
  TENON_RETURN_IF_ERROR(ExpectMatrices(in));
  const bool parameters = c.num_inputs() > 1;
  if (parameters && c.value(1) == nullptr) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const Diagonals d,
                         MakeDiagonals(c.attrs(), parameters ? c.value(1) : nullptr));
  const int64_t rows = in.dim(in.rank() - 2), cols = in.dim(in.rank() - 1);
  if (rows >= 0 && cols >= 0) TENON_RETURN_IF_ERROR(d.Check(rows, cols));
  if (parameters && c.input(2).IsComplete() && c.input(2).num_elements() != 1) {
    return InvalidArgument("padding_value must be a scalar");
  }
  c.set_output(0, PackedShape(in, d));
  return absl::OkStatus();
}

absl::Status SetDiagShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  c.set_output(0, in);
  if (!in.has_rank()) return absl::OkStatus();
  TENON_RETURN_IF_ERROR(ExpectMatrices(in));
  const bool parameters = c.num_inputs() > 2;
  if (parameters && c.value(2) == nullptr) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(const Diagonals d,
                         MakeDiagonals(c.attrs(), parameters ? c.value(2) : nullptr));
  const int64_t rows = in.dim(in.rank() - 2), cols = in.dim(in.rank() - 1);
  if (rows >= 0 && cols >= 0) TENON_RETURN_IF_ERROR(d.Check(rows, cols));
  const Shape expected = PackedShape(in, d);
  if (!expected.CompatibleWith(c.input(1))) {
    return InvalidArgument("diagonal must have shape ", expected.ToString(), ", but has ",
                           c.input(1).ToString());
  }
  return absl::OkStatus();
}

const OpRegistration matrix_diag_op({
    .name = "MatrixDiag",
    .inputs = "diagonal: T",
    .outputs = "output: T",
    .attrs = "T: type",
    .shape = MatrixDiagShape,
    .reference = MatrixDiagKernel,
});

const OpRegistration matrix_diag_v2_op({
    .name = "MatrixDiagV2",
    .inputs = "diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T",
    .outputs = "output: T",
    .attrs = "T: type",
    .shape = MatrixDiagShape,
    .reference = MatrixDiagKernel,
});

const OpRegistration matrix_diag_v3_op({
    .name = "MatrixDiagV3",
    .inputs = "diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T",
    .outputs = "output: T",
    .attrs = "T: type; align: string = RIGHT_LEFT",
    .shape = MatrixDiagShape,
    .reference = MatrixDiagKernel,
});

const OpRegistration batch_matrix_diag_op({
    .name = "BatchMatrixDiag",
    .inputs = "diagonal: T",
    .outputs = "output: T",
    .attrs = "T: type",
    .shape = MatrixDiagShape,
    .reference = MatrixDiagKernel,
});

const OpRegistration matrix_diag_part_op({
    .name = "MatrixDiagPart",
    .inputs = "input: T",
    .outputs = "diagonal: T",
    .attrs = "T: type",
    .shape = MatrixDiagPartShape,
    .reference = MatrixDiagPartKernel,
});

const OpRegistration matrix_diag_part_v2_op({
    .name = "MatrixDiagPartV2",
    .inputs = "input: T, k: int32, padding_value: T",
    .outputs = "diagonal: T",
    .attrs = "T: type",
    .shape = MatrixDiagPartShape,
    .reference = MatrixDiagPartKernel,
});

const OpRegistration matrix_diag_part_v3_op({
    .name = "MatrixDiagPartV3",
    .inputs = "input: T, k: int32, padding_value: T",
    .outputs = "diagonal: T",
    .attrs = "T: type; align: string = RIGHT_LEFT",
    .shape = MatrixDiagPartShape,
    .reference = MatrixDiagPartKernel,
});

const OpRegistration batch_matrix_diag_part_op({
    .name = "BatchMatrixDiagPart",
    .inputs = "input: T",
    .outputs = "diagonal: T",
    .attrs = "T: type",
    .shape = MatrixDiagPartShape,
    .reference = MatrixDiagPartKernel,
});

const OpRegistration matrix_set_diag_op({
    .name = "MatrixSetDiag",
    .inputs = "input: T, diagonal: T",
    .outputs = "output: T",
    .attrs = "T: type",
    .shape = SetDiagShape,
    .reference = MatrixSetDiagKernel,
});

const OpRegistration matrix_set_diag_v2_op({
    .name = "MatrixSetDiagV2",
    .inputs = "input: T, diagonal: T, k: int32",
    .outputs = "output: T",
    .attrs = "T: type",
    .shape = SetDiagShape,
    .reference = MatrixSetDiagKernel,
});

const OpRegistration matrix_set_diag_v3_op({
    .name = "MatrixSetDiagV3",
    .inputs = "input: T, diagonal: T, k: int32",
    .outputs = "output: T",
    .attrs = "T: type; align: string = RIGHT_LEFT",
    .shape = SetDiagShape,
    .reference = MatrixSetDiagKernel,
});

const OpRegistration batch_matrix_set_diag_op({
    .name = "BatchMatrixSetDiag",
    .inputs = "input: T, diagonal: T",
    .outputs = "output: T",
    .attrs = "T: type",
    .shape = SetDiagShape,
    .reference = MatrixSetDiagKernel,
});

}  // namespace
}  // namespace tenon
