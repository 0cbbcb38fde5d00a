#include "ops/random/shape.h"

#include "env/status.h"
#include "kernels/interface/axis.h"

namespace tenon {

absl::Status RandomShape(ShapeContext& c) { return RandomShapeOf(c, 0); }

absl::Status RandomShapeOf(ShapeContext& c, int input) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(input, 1));
  if (c.value(input) == nullptr) {
    const int64_t rank = c.input(input).has_rank() ? c.input(input).dim(0) : -1;
    if (rank > 254) return InvalidArgument("a shape of more than 254 dimensions");
    if (rank >= 0) c.set_output(0, Shape::UnknownOfRank(static_cast<int>(rank)));
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(Shape out, ShapeOfValue(*c.value(input), MinusOne::kRefused));
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status MultinomialShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 2));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 0));
  Shape out({-1, -1});
  if (c.input(0).has_rank()) {
    out.set_dim(0, c.input(0).dim(0));
    if (c.input(0).dim(1) == 0) return InvalidArgument("num_classes must be positive");
  }
  if (c.value(1) != nullptr) {
    TENON_ASSIGN_OR_RETURN(const int64_t n, ScalarInteger(*c.value(1), "num_samples"));
    if (n < 0) return InvalidArgument("num_samples must not be negative, but is ", n);
    out.set_dim(1, n);
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

}  // namespace tenon
