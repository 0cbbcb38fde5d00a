// RaggedCross: feature crosses of ragged, sparse and dense columns, as a ragged tensor.
#include "kernels/ragged/cross.h"

#include "ops/op.h"

namespace tenon {
namespace {

absl::Status CrossShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const RaggedCrossLayout layout, ReadRaggedCrossLayout(c.attrs()));
  int64_t rows = layout.order.empty() ? 0 : -1;
  auto note = [&](int64_t own) -> absl::Status {
    if (own < 0) return absl::OkStatus();
    if (rows >= 0 && own != rows) {
      return InvalidArgument("columns of ", rows, " and of ", own, " rows");
    }
    rows = own;
    return absl::OkStatus();
  };
  for (int i = 0; i < layout.ragged; ++i) {
    TENON_RETURN_IF_ERROR(c.ExpectRank(i, 1));
    TENON_RETURN_IF_ERROR(c.ExpectRank(layout.splits(i), 1));
    const Shape& splits = c.input(layout.splits(i));
    if (!splits.has_rank() || splits.dim(0) < 0) continue;
    if (splits.dim(0) == 0) return InvalidArgument("row splits are empty");
    TENON_RETURN_IF_ERROR(note(splits.dim(0) - 1));
  }
  for (int i = 0; i < layout.sparse; ++i) {
    TENON_RETURN_IF_ERROR(c.ExpectRank(layout.values(i), 1));
    const Shape &at = c.input(layout.indices(i)), &values = c.input(layout.values(i));
    if (!at.CompatibleWith(Shape({values.has_rank() ? values.dim(0) : -1, 2})) ||
        !c.input(layout.shapes(i)).CompatibleWith(Shape({2}))) {
      return InvalidArgument("sparse column ", i, " must have two dimensions");
    }
  }
  for (int i = 0; i < layout.dense; ++i) {
    const Shape& dense = c.input(layout.denses(i));
    TENON_RETURN_IF_ERROR(c.ExpectRank(layout.denses(i), 2));
    if (dense.has_rank()) TENON_RETURN_IF_ERROR(note(dense.dim(0)));
  }
  c.set_output(0, Shape({-1}));
  c.set_output(1, Shape({rows < 0 ? -1 : rows + 1}));
  return absl::OkStatus();
}

const OpRegistration ragged_cross_op({
    .name = "RaggedCross",
    .inputs = "ragged_values: ragged_values_types, ragged_row_splits: ragged_splits_types, "
              "sparse_indices: Nsparse * int64, sparse_values: sparse_values_types, "
              "sparse_shape: Nsparse * int64, dense_inputs: dense_types",
    .outputs = "output_values: out_values_type, output_row_splits: out_row_splits_type",
    .attrs = "Nsparse: int; input_order: string; hashed_output: bool; num_buckets: int; "
             "hash_key: int; ragged_values_types: list(type); ragged_splits_types: list(type); "
             "sparse_values_types: list(type); dense_types: list(type); out_values_type: type; "
             "out_row_splits_type: type",
    .types = "ragged_values_types: int64 string; ragged_splits_types: int32 int64; "
             "sparse_values_types: int64 string; dense_types: int64 string; "
             "out_values_type: int64 string; out_row_splits_type: int32 int64",
    .shape = CrossShape,
    .reference = RaggedCrossKernel,
});

}  // namespace
}  // namespace tenon
