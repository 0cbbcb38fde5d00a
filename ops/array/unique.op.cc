// Unique, UniqueV2, UniqueWithCounts, UniqueWithCountsV2: the distinct slices of a tensor in order
// of first appearance, the index of each slice among them, and the number of occurrences. ListDiff:
// the elements of one vector that are not in another.
#include "kernels/layout/unique.h"

#include <algorithm>

#include "ops/op.h"

namespace tenon {
namespace {

absl::Status UniqueShape(ShapeContext& c) {
  const Shape& x = c.input(0);
  if (c.num_inputs() > 1) TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  if (!x.has_rank()) return absl::OkStatus();
  if (c.num_inputs() > 1 && c.value(1) == nullptr) {
    c.set_output(0, Shape::UnknownOfRank(x.rank()));
    c.set_output(1, Shape({-1}));
  } else {
    TENON_ASSIGN_OR_RETURN(const int axis,
                           UniqueAxis(x, c.num_inputs() > 1 ? c.value(1) : nullptr));
    Shape y = x;
    y.set_dim(axis, -1);
    c.set_output(0, std::move(y));
    c.set_output(1, Shape({x.dim(axis)}));
  }
  if (c.num_outputs() > 2) c.set_output(2, Shape({-1}));
  return absl::OkStatus();
}

absl::Status ListDiffShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  c.set_output(0, Shape({-1}));
  c.set_output(1, Shape({-1}));
  return absl::OkStatus();
}

const OpRegistration unique_op({
    .name = "Unique",
    .inputs = "x: T",
    .outputs = "y: T, idx: out_idx",
    .attrs = "T: type; out_idx: type = int32",
    .types = "out_idx: int32 int64",
    .shape = UniqueShape,
    .reference = UniqueKernel,
});

const OpRegistration unique_v2_op({
    .name = "UniqueV2",
    .inputs = "x: T, axis: Taxis",
    .outputs = "y: T, idx: out_idx",
    .attrs = "T: type; Taxis: type = int64; out_idx: type = int32",
    .types = "Taxis: int32 int64; out_idx: int32 int64",
    .shape = UniqueShape,
    .reference = UniqueKernel,
});

const OpRegistration unique_with_counts_op({
    .name = "UniqueWithCounts",
    .inputs = "x: T",
    .outputs = "y: T, idx: out_idx, count: out_idx",
    .attrs = "T: type; out_idx: type = int32",
    .types = "out_idx: int32 int64",
    .shape = UniqueShape,
    .reference = UniqueKernel,
});

const OpRegistration unique_with_counts_v2_op({
    .name = "UniqueWithCountsV2",
    .inputs = "x: T, axis: Taxis",
    .outputs = "y: T, idx: out_idx, count: out_idx",
    .attrs = "T: type; Taxis: type = int64; out_idx: type = int32",
    .types = "Taxis: int32 int64; out_idx: int32 int64",
    .shape = UniqueShape,
    .reference = UniqueKernel,
});

const OpRegistration list_diff_op({
    .name = "ListDiff",
    .inputs = "x: T, y: T",
    .outputs = "out: T, idx: out_idx",
    .attrs = "T: type; out_idx: type = int32",
    .types = "out_idx: int32 int64",
    .shape = ListDiffShape,
    .reference = ListDiffKernel,
});

}  // namespace
}  // namespace tenon
