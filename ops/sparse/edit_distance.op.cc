// EditDistance: insertions, deletions and substitutions between the innermost rows of two sparse
// tensors (Levenshtein), optionally divided by the length of the true row.
#include "kernels/sparse/edit_distance.h"

#include "ops/op.h"
#include "ops/sparse/sparse_shape.h"

namespace tenon {
namespace {

absl::Status DistanceShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(ExpectSparse(c, 0));
  TENON_RETURN_IF_ERROR(ExpectSparse(c, 3));
  const Shape &a = c.input(2), &b = c.input(5);
  if (!a.CompatibleWith(b)) return InvalidArgument("tensors of different ranks");
  for (const Shape* s : {&a, &b}) {
    if (s->has_rank() && s->dim(0) >= 0 && s->dim(0) < 2) {
      return InvalidArgument("the tensors must have at least 2 dimensions");
    }
  }
  return UnknownShape(c);
}

const OpRegistration edit_distance({
    .name = "EditDistance",
    .inputs = "hypothesis_indices: int64, hypothesis_values: T, hypothesis_shape: int64, "
              "truth_indices: int64, truth_values: T, truth_shape: int64",
    .outputs = "output: float",
    .attrs = "normalize: bool = true; T: type",
    .shape = DistanceShape,
    .reference = EditDistanceKernel,
});

}  // namespace
}  // namespace tenon
