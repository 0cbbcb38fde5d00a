#include "ops/shape_fn.h"

#include "env/status.h"

namespace tenon {

absl::Status ShapeContext::ExpectRank(int i, int rank) const {
  const Shape& s = input(i);
  if (s.has_rank() && s.rank() != rank) {
    return InvalidArgument("input ", i, " must have rank ", rank, ", but has shape ", s.ToString());
  }
  return absl::OkStatus();
}

absl::Status UnchangedShape(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, c.input(0));
  return absl::OkStatus();
}

absl::Status BroadcastBinaryShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(Shape out, BroadcastShapes(c.input(0), c.input(1)));
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status ScalarShape(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, Shape());
  return absl::OkStatus();
}

absl::Status UnknownShape(ShapeContext&) { return absl::OkStatus(); }

}  // namespace tenon
