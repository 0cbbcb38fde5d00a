#include "ops/sparse/sparse_shape.h"

#include "env/status.h"

namespace tenon {

absl::Status ExpectSparse(const ShapeContext& c, int i, int step) {
  const Shape &indices = c.input(i), &values = c.input(i + step), &shape = c.input(i + 2 * step);
  TENON_RETURN_IF_ERROR(c.ExpectRank(i, 2));
  TENON_RETURN_IF_ERROR(c.ExpectRank(i + step, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(i + 2 * step, 1));
  const int64_t n = values.has_rank() ? values.dim(0) : -1;
  const int64_t rank = shape.has_rank() ? shape.dim(0) : -1;
  if (Shape({n, rank}).CompatibleWith(indices)) return absl::OkStatus();
  return InvalidArgument("indices of shape ", indices.ToString(), " for ", n,
                         " values and a shape of rank ", rank);
}

absl::Status ExpectSparseBatch(const ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectSparse(c, 0));
  const Shape& shape = c.input(2);
  if (shape.has_rank() && shape.dim(0) >= 0 && shape.dim(0) < 2) {
    return InvalidArgument("the sparse tensor must have at least 2 dimensions, but has ",
                           shape.dim(0));
  }
  return absl::OkStatus();
}

}  // namespace tenon
