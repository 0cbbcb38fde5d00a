// _SquaredDistance: the sum over the last axis of (a - b)^2, broadcast as in NumPy.
#include "kernels/reduction/squared_distance.h"

#include <algorithm>
#include <vector>

#include "ops/op.h"

namespace tenon {
namespace {

absl::Status SquaredDistanceShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const Shape whole, BroadcastShapes(c.input(0), c.input(1)));
  if (!whole.has_rank()) {
    c.set_output(0, Shape::Unknown());
    return absl::OkStatus();
  }
  if (whole.rank() == 0) return InvalidArgument("there is no axis to sum over");
  std::vector<int64_t> dims(whole.dims().begin(), whole.dims().end());
  if (c.attrs().Bool("keep_dims", false)) {
    dims.back() = 1;
  } else {
    dims.pop_back();
  }
  c.set_output(0, Shape(dims));
  return absl::OkStatus();
}

// Rows along the first axis of the differences are still along that of the sums.
bool RowsOfPoints(const BatchAxisNode& n) {
  const int rank = std::max(n.in[0].shape.rank(), n.in[1].shape.rank());
  for (size_t i = 0; i < 2; ++i) {
    const Shape& s = n.in[i].shape;
    const bool same_for_all = n.inputs[i] == BatchAxis::kNone && (s.rank() < rank || s.dim(0) == 1);
    const bool by_row = n.inputs[i] == BatchAxis::kFirst && s.rank() == rank;
    if (rank < 2 || (!same_for_all && !by_row)) return false;
  }
  return true;
}

const OpRegistration squared_distance({
    .name = "_SquaredDistance",
    .inputs = "a: T, b: T",
    .outputs = "output: T",
    .attrs = "T: type; keep_dims: bool = false",
    .types = "T: float",
    .shape = SquaredDistanceShape,
    .reference = SquaredDistanceReference,
    .accelerated = SquaredDistanceVector,
    .native = "_MklNativeSquaredDistance",
    .eager = false,
    .internal = true,
    .batch_axis = RowsOfPoints,
    .error_bound = ErrorBound::kSum,
});

}  // namespace
}  // namespace tenon
