#include "ops/linalg/matrix_shape.h"

#include "env/status.h"

namespace tenon {

absl::Status ExpectMatrices(const Shape& shape) {
  if (!shape.has_rank() || shape.rank() >= 2) return absl::OkStatus();
  return InvalidArgument("input must have at least 2 dimensions, but has shape ", shape.ToString());
}

absl::Status ExpectSquare(const Shape& shape) {
  TENON_RETURN_IF_ERROR(ExpectMatrices(shape));
  if (!shape.has_rank()) return absl::OkStatus();
  const int64_t rows = shape.dim(shape.rank() - 2), cols = shape.dim(shape.rank() - 1);
  if (rows >= 0 && cols >= 0 && rows != cols) {
    return InvalidArgument("matrices must be square, but the shape is ", shape.ToString());
  }
  return absl::OkStatus();
}

Shape WithMatrix(const Shape& shape, std::initializer_list<int64_t> last) {
  Shape out(shape.dims().subspan(0, static_cast<size_t>(shape.rank() - 2)));
  for (int64_t d : last) out.push_back(d);
  return out;
}

absl::Status SquareToSquareShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectSquare(c.input(0)));
  c.set_output(0, c.input(0));
  return absl::OkStatus();
}

}  // namespace tenon
