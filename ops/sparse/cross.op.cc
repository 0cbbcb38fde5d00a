// SparseCross, SparseCrossV2, SparseCrossHashed: feature crosses of sparse and dense columns, as
// texts joined by a separator or as buckets of joined hashes.
#include "kernels/sparse/cross.h"

#include "ops/op.h"
#include "ops/sparse/sparse_shape.h"

namespace tenon {
namespace {

absl::Status CrossShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const CrossLayout layout, ReadCrossLayout(c.attrs()));
  for (int i = 0; i < layout.sparse; ++i) {
    TENON_RETURN_IF_ERROR(ExpectSparse(c, i, layout.sparse));
    if (!c.input(i).CompatibleWith(Shape({-1, 2})) ||
        !c.input(layout.shapes(i)).CompatibleWith(Shape({2}))) {
      return InvalidArgument("sparse column ", i, " must have two dimensions");
    }
  }
  for (int i = 0; i < layout.dense; ++i) {
    TENON_RETURN_IF_ERROR(c.ExpectRank(layout.denses(i), 2));
  }
  c.set_output(0, Shape({-1, 2}));
  c.set_output(1, Shape({-1}));
  c.set_output(2, Shape({2}));
  return absl::OkStatus();
}

absl::Status HashedShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(CrossShape(c));
  TENON_ASSIGN_OR_RETURN(const CrossLayout layout, ReadCrossLayout(c.attrs()));
  TENON_RETURN_IF_ERROR(c.ExpectRank(layout.others(), 0));
  TENON_RETURN_IF_ERROR(c.ExpectRank(layout.others() + 1, 0));
  if (c.input(layout.others() + 2).CompatibleWith(Shape({2}))) return absl::OkStatus();
  return InvalidArgument("salt must have 2 elements, but has shape ",
                         c.input(layout.others() + 2).ToString());
}

absl::Status JoinedShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(CrossShape(c));
  TENON_ASSIGN_OR_RETURN(const CrossLayout layout, ReadCrossLayout(c.attrs()));
  return c.ExpectRank(layout.others(), 0);
}

const OpRegistration sparse_cross_op({
    .name = "SparseCross",
    .inputs = "indices: N * int64, values: sparse_types, shapes: N * int64, "
              "dense_inputs: dense_types",
    .outputs = "output_indices: int64, output_values: out_type, output_shape: int64",
    .attrs = "N: int; hashed_output: bool; num_buckets: int; hash_key: int; "
             "sparse_types: list(type); dense_types: list(type); out_type: type; "
             "internal_type: type",
    .types = "sparse_types: int64 string; dense_types: int64 string; out_type: int64 string; "
             "internal_type: int64 string",
    .shape = CrossShape,
    .reference = SparseCrossKernel,
});

const OpRegistration sparse_cross_v2_op({
    .name = "SparseCrossV2",
    .inputs = "indices: N * int64, values: sparse_types, shapes: N * int64, "
              "dense_inputs: dense_types, sep: string",
    .outputs = "output_indices: int64, output_values: string, output_shape: int64",
    .attrs = "N: int; sparse_types: list(type); dense_types: list(type)",
    .types = "sparse_types: int64 string; dense_types: int64 string",
    .shape = JoinedShape,
    .reference = SparseCrossTextKernel,
});

const OpRegistration sparse_cross_hashed_op({
    .name = "SparseCrossHashed",
    .inputs = "indices: N * int64, values: sparse_types, shapes: N * int64, "
              "dense_inputs: dense_types, num_buckets: int64, strong_hash: bool, salt: int64",
    .outputs = "output_indices: int64, output_values: int64, output_shape: int64",
    .attrs = "N: int; sparse_types: list(type); dense_types: list(type)",
    .types = "sparse_types: int64 string; dense_types: int64 string",
    .shape = HashedShape,
    .reference = SparseCrossHashKernel,
});

}  // namespace
}  // namespace tenon
