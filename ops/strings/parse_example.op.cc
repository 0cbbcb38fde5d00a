// ParseExample, ParseExampleV2, ParseSingleExample: features of serialized tf.train.Example
// messages as tensors. Dense features have a shape (of which only the first size may be unknown,
// and is then padded); sparse and ragged ones have as many values as there are.
#include "kernels/example_proto/parse_example.h"

#include <algorithm>

#include "kernels/example_proto/example.h"
#include "kernels/example_proto/feature_column.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status CheckInputs(const ShapeContext& c, const ExampleSignature& s) {
  const Shape& serialized = c.input(0);
  if (s.single()) {
    TENON_RETURN_IF_ERROR(c.ExpectRank(0, 0));
  } else if (!s.vectors()) {
    TENON_RETURN_IF_ERROR(c.ExpectRank(0, 1));
  } else if (serialized.has_rank() && serialized.rank() > 1) {
    return InvalidArgument("serialized must be a scalar or a vector, but has shape ",
                           serialized.ToString());
  }
  if (!s.single()) {
    const Shape& names = c.input(1);
    if (names.IsComplete() && names.num_elements() > 0 && !names.CompatibleWith(serialized)) {
      return InvalidArgument("names of shape ", names.ToString(), " for examples of shape ",
                             serialized.ToString());
    }
  }
  auto expect_keys = [&](int input, size_t count) -> absl::Status {
    const Shape& keys = c.input(input);
    if (keys.CompatibleWith(Shape({static_cast<int64_t>(count)}))) return absl::OkStatus();
    return InvalidArgument("input ", input, " must have ", count, " keys, but has shape ",
                           keys.ToString());
  };
  if (s.vectors()) {
    TENON_RETURN_IF_ERROR(expect_keys(s.sparse_keys(), s.sparse.size()));
    TENON_RETURN_IF_ERROR(expect_keys(s.dense_keys(), s.dense.size()));
    TENON_RETURN_IF_ERROR(expect_keys(s.ragged_keys(), s.ragged.size()));
  } else if (!s.single()) {
    for (int i = s.sparse_keys(); i < s.defaults(); ++i) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 0));
  }
  for (size_t i = 0; i < s.dense.size(); ++i) {
    const Shape& value = c.input(s.defaults() + static_cast<int>(i));
    if (!value.IsComplete()) continue;
    const bool fits = VariableLength(s.dense_shapes[i])
                          ? value.num_elements() == 1
                          : value.num_elements() == 0 || value == s.dense_shapes[i];
    if (fits) continue;
    return InvalidArgument("a default of shape ", value.ToString(), " for a dense shape of ",
                           s.dense_shapes[i].ToString());
  }
  return absl::OkStatus();
}

template <KeyForm keys>
absl::Status ExampleShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const ExampleSignature s, ReadExampleSignature(c.attrs(), keys));
  TENON_RETURN_IF_ERROR(CheckInputs(c, s));
  const Shape& batch = c.input(0);
  if (!batch.has_rank()) return absl::OkStatus();
  const int64_t rank = batch.rank() + 1;
  for (size_t i = 0; i < s.sparse.size(); ++i) {
    c.set_output(s.sparse_output(i, 0), Shape({-1, rank}));
    c.set_output(s.sparse_output(i, 1), Shape({-1}));
    c.set_output(s.sparse_output(i, 2), Shape({rank}));
  }
  for (size_t i = 0; i < s.dense.size(); ++i) {
    Shape out = Batched(batch, s.dense_shapes[i]);
    if (out.IsComplete()) TENON_RETURN_IF_ERROR(out.CheckedElements().status());
    c.set_output(s.dense_output(i), std::move(out));
  }
  for (size_t i = 0; i < s.ragged.size(); ++i) {
    c.set_output(s.ragged_output(i), Shape({-1}));
    const int64_t splits = rank == 1 ? 0 : batch.dim(0) < 0 ? -1 : batch.dim(0) + 1;
    c.set_output(s.splits_output(i), Shape({splits}));
  }
  return absl::OkStatus();
}

const OpRegistration parse_example_op({
    .name = "ParseExample",
    .inputs = "serialized: string, names: string, sparse_keys: Nsparse * string, "
              "dense_keys: Ndense * string, dense_defaults: Tdense",
    .outputs = "sparse_indices: Nsparse * int64, sparse_values: sparse_types, "
               "sparse_shapes: Nsparse * int64, dense_values: Tdense",
    .attrs = "Nsparse: int; Ndense: int; sparse_types: list(type); Tdense: list(type); "
             "dense_shapes: list(shape)",
    .shape = ExampleShape<KeyForm::kScalars>,
    .reference = ParseExampleKernel<KeyForm::kScalars>,
});

const OpRegistration parse_example_v2_op({
    .name = "ParseExampleV2",
    .inputs = "serialized: string, names: string, sparse_keys: string, dense_keys: string, "
              "ragged_keys: string, dense_defaults: Tdense",
    .outputs = "sparse_indices: num_sparse * int64, sparse_values: sparse_types, "
               "sparse_shapes: num_sparse * int64, dense_values: Tdense, "
               "ragged_values: ragged_value_types, ragged_row_splits: ragged_split_types",
    .attrs = "Tdense: list(type); num_sparse: int; sparse_types: list(type); "
             "ragged_value_types: list(type); ragged_split_types: list(type); "
             "dense_shapes: list(shape)",
    .shape = ExampleShape<KeyForm::kVectors>,
    .reference = ParseExampleKernel<KeyForm::kVectors>,
});

const OpRegistration parse_single_example_op({
    .name = "ParseSingleExample",
    .inputs = "serialized: string, dense_defaults: Tdense",
    .outputs = "sparse_indices: num_sparse * int64, sparse_values: sparse_types, "
               "sparse_shapes: num_sparse * int64, dense_values: Tdense",
    .attrs = "num_sparse: int; sparse_keys: list(string); dense_keys: list(string); "
             "sparse_types: list(type); Tdense: list(type); dense_shapes: list(shape)",
    .shape = ExampleShape<KeyForm::kAttributes>,
    .reference = ParseExampleKernel<KeyForm::kAttributes>,
});

}  // namespace
}  // namespace tenon
