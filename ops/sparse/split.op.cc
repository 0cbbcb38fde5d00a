// SparseSplit: splits a sparse tensor along one dimension into num_split parts; the first ones are
// larger if the size is not divisible.
#include "kernels/sparse/rearrange.h"
#include "ops/op.h"
#include "ops/sparse/sparse_shape.h"

namespace tenon {
namespace {

absl::Status SplitShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 0));
  TENON_RETURN_IF_ERROR(ExpectSparse(c, 1));
  TENON_ASSIGN_OR_RETURN(const int64_t parts, ReadSparseParts(c.attrs()));
  const Shape& shape = c.input(3);
  for (int64_t i = 0; i < parts; ++i) {
    const int k = static_cast<int>(i), n = static_cast<int>(parts);
    c.set_output(k, Shape({-1, shape.has_rank() ? shape.dim(0) : -1}));
    c.set_output(n + k, Shape({-1}));
    c.set_output(2 * n + k, shape);
  }
  return absl::OkStatus();
}

const OpRegistration sparse_split({
    .name = "SparseSplit",
    .inputs = "split_dim: int64, indices: int64, values: T, shape: int64",
    .outputs = "output_indices: num_split * int64, output_values: num_split * T, "
               "output_shape: num_split * int64",
    .attrs = "num_split: int; T: type",
    .shape = SplitShape,
    .reference = SparseSplitKernel,
});

}  // namespace
}  // namespace tenon
