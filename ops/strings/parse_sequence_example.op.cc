// ParseSequenceExample, ParseSequenceExampleV2, ParseSingleSequenceExample: features of serialized
// tf.train.SequenceExample messages as tensors. Context features belong to an example, as in
// tf.train.Example; features in feature lists belong to each of its steps. Dense lists are padded
// with zeros to the longest example, and come with their lengths.
#include "kernels/example_proto/parse_sequence_example.h"

#include <algorithm>

#include "kernels/example_proto/feature_column.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status CheckInputs(const ShapeContext& c, const SequenceSignature& s) {
  const Shape& serialized = c.input(0);
  if (s.single() ? !serialized.CompatibleWith(Shape())
                 : serialized.has_rank() && serialized.rank() > 1) {
    return InvalidArgument("serialized has shape ", serialized.ToString());
  }
  if (s.key_form == KeyForm::kAttributes) TENON_RETURN_IF_ERROR(c.ExpectRank(0, 1));
  const Shape& names = c.input(1);
  if (!s.single() && names.IsComplete() && names.num_elements() > 0 &&
      !names.CompatibleWith(serialized)) {
    return InvalidArgument("names of shape ", names.ToString(), " for examples of shape ",
                           serialized.ToString());
  }
  for (const bool list : {false, true}) {
    for (int kind = 0; kind < 3 && s.vectors(); ++kind) {
      const Shape& keys = c.input(s.keys(list, kind));
      if (keys.CompatibleWith(Shape({s.group(list).count(kind)}))) continue;
      return InvalidArgument("input ", s.keys(list, kind), " must have ", s.group(list).count(kind),
                             " keys, but has shape ", keys.ToString());
    }
  }
  for (int i = 2; s.single() && i < s.defaults(); ++i) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 0));
  if (s.vectors() && !c.input(s.missing()).CompatibleWith(Shape({s.lists.count(1)}))) {
    return InvalidArgument("feature_list_dense_missing_assumed_empty has shape ",
                           c.input(s.missing()).ToString(), " for ", s.lists.count(1), " lists");
  }
  if (s.single()) TENON_RETURN_IF_ERROR(c.ExpectRank(s.missing(), 1));
  for (int i = 0; i < s.context.count(1); ++i) {
    const Shape &value = c.input(s.defaults() + i),
                &shape = s.context.shapes[static_cast<size_t>(i)];
    if (!value.IsComplete() || value.num_elements() == 0 || value == shape) continue;
    return InvalidArgument("a default of shape ", value.ToString(), " for a dense shape of ",
                           shape.ToString());
  }
  return absl::OkStatus();
}

template <KeyForm keys>
absl::Status SequenceShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const SequenceSignature s, ReadSequenceSignature(c.attrs(), keys));
  TENON_RETURN_IF_ERROR(CheckInputs(c, s));
  const Shape& batch = c.input(0);
  if (!batch.has_rank()) return absl::OkStatus();
  // For a single example, TensorFlow returns a 0 instead of the outer splits.
  const Shape splits = batch.rank() == 0  ? Shape()
                       : batch.dim(0) < 0 ? Shape({-1})
                                          : Shape({batch.dim(0) + 1});
  for (const bool list : {false, true}) {
    const FeatureGroup& g = s.group(list);
    const int64_t rank = batch.rank() + (list ? 2 : 1);
    for (int i = 0; i < g.count(0); ++i) {
      c.set_output(s.sparse_output(list, 0, i), Shape({-1, rank}));
      c.set_output(s.sparse_output(list, 1, i), Shape({-1}));
      c.set_output(s.sparse_output(list, 2, i), Shape({rank}));
    }
    for (int i = 0; i < g.count(1); ++i) {
      const Shape outer = list ? Batched(batch, Shape({-1})) : batch;
      Shape out = Batched(outer, g.shapes[static_cast<size_t>(i)]);
      if (out.IsComplete()) TENON_RETURN_IF_ERROR(out.CheckedElements().status());
      c.set_output(s.dense_output(list, i), std::move(out));
      if (list && !s.single()) c.set_output(s.lengths_output(i), batch);
    }
    for (int i = 0; i < g.count(2); ++i) {
      c.set_output(s.ragged_output(list, 0, i), Shape({-1}));
      c.set_output(s.ragged_output(list, 1, i), splits);
      if (list) c.set_output(s.ragged_output(list, 2, i), Shape({-1}));
    }
  }
  return absl::OkStatus();
}

const OpRegistration parse_sequence_example_op({
    .name = "ParseSequenceExample",
    .inputs = "serialized: string, debug_name: string, context_dense_defaults: Tcontext_dense",
    .outputs = "context_sparse_indices: Ncontext_sparse * int64, "
               "context_sparse_values: context_sparse_types, "
               "context_sparse_shapes: Ncontext_sparse * int64, "
               "context_dense_values: Tcontext_dense, "
               "feature_list_sparse_indices: Nfeature_list_sparse * int64, "
               "feature_list_sparse_values: feature_list_sparse_types, "
               "feature_list_sparse_shapes: Nfeature_list_sparse * int64, "
               "feature_list_dense_values: feature_list_dense_types, "
               "feature_list_dense_lengths: Nfeature_list_dense * int64",
    .attrs = "feature_list_dense_missing_assumed_empty: list(string); "
             "context_sparse_keys: list(string); context_dense_keys: list(string); "
             "feature_list_sparse_keys: list(string); feature_list_dense_keys: list(string); "
             "Ncontext_sparse: int = 0; Ncontext_dense: int = 0; Nfeature_list_sparse: int = 0; "
             "Nfeature_list_dense: int = 0; context_sparse_types: list(type) = []; "
             "Tcontext_dense: list(type) = []; feature_list_dense_types: list(type) = []; "
             "context_dense_shapes: list(shape) = []; feature_list_sparse_types: list(type) = []; "
             "feature_list_dense_shapes: list(shape) = []",
    .shape = SequenceShape<KeyForm::kAttributes>,
    .reference = ParseSequenceExampleKernel<KeyForm::kAttributes>,
});

const OpRegistration parse_sequence_example_v2_op({
    .name = "ParseSequenceExampleV2",
    .inputs = "serialized: string, debug_name: string, context_sparse_keys: string, "
              "context_dense_keys: string, context_ragged_keys: string, "
              "feature_list_sparse_keys: string, feature_list_dense_keys: string, "
              "feature_list_ragged_keys: string, feature_list_dense_missing_assumed_empty: bool, "
              "context_dense_defaults: Tcontext_dense",
    .outputs = "context_sparse_indices: Ncontext_sparse * int64, "
               "context_sparse_values: context_sparse_types, "
               "context_sparse_shapes: Ncontext_sparse * int64, "
               "context_dense_values: Tcontext_dense, "
               "context_ragged_values: context_ragged_value_types, "
               "context_ragged_row_splits: context_ragged_split_types, "
               "feature_list_sparse_indices: Nfeature_list_sparse * int64, "
               "feature_list_sparse_values: feature_list_sparse_types, "
               "feature_list_sparse_shapes: Nfeature_list_sparse * int64, "
               "feature_list_dense_values: feature_list_dense_types, "
               "feature_list_dense_lengths: Nfeature_list_dense * int64, "
               "feature_list_ragged_values: feature_list_ragged_value_types, "
               "feature_list_ragged_outer_splits: feature_list_ragged_split_types, "
               "feature_list_ragged_inner_splits: feature_list_ragged_split_types",
    .attrs = "Ncontext_sparse: int = 0; Tcontext_dense: list(type) = []; "
             "context_sparse_types: list(type) = []; context_ragged_value_types: list(type) = []; "
             "context_ragged_split_types: list(type) = []; context_dense_shapes: list(shape) = []; "
             "Nfeature_list_sparse: int = 0; Nfeature_list_dense: int = 0; "
             "feature_list_dense_types: list(type) = []; feature_list_sparse_types: list(type) = "
             "[]; feature_list_ragged_value_types: list(type) = []; "
             "feature_list_ragged_split_types: list(type) = []; "
             "feature_list_dense_shapes: list(shape) = []",
    .types =
        "context_ragged_split_types: int32 int64; feature_list_ragged_split_types: int32 int64",
    .shape = SequenceShape<KeyForm::kVectors>,
    .reference = ParseSequenceExampleKernel<KeyForm::kVectors>,
});

const OpRegistration parse_single_sequence_example_op({
    .name = "ParseSingleSequenceExample",
    .inputs = "serialized: string, feature_list_dense_missing_assumed_empty: string, "
              "context_sparse_keys: Ncontext_sparse * string, "
              "context_dense_keys: Ncontext_dense * string, "
              "feature_list_sparse_keys: Nfeature_list_sparse * string, "
              "feature_list_dense_keys: Nfeature_list_dense * string, "
              "context_dense_defaults: Tcontext_dense, debug_name: string",
    .outputs = "context_sparse_indices: Ncontext_sparse * int64, "
               "context_sparse_values: context_sparse_types, "
               "context_sparse_shapes: Ncontext_sparse * int64, "
               "context_dense_values: Tcontext_dense, "
               "feature_list_sparse_indices: Nfeature_list_sparse * int64, "
               "feature_list_sparse_values: feature_list_sparse_types, "
               "feature_list_sparse_shapes: Nfeature_list_sparse * int64, "
               "feature_list_dense_values: feature_list_dense_types",
    .attrs = "Ncontext_sparse: int = 0; Ncontext_dense: int = 0; Nfeature_list_sparse: int = 0; "
             "Nfeature_list_dense: int = 0; context_sparse_types: list(type) = []; "
             "Tcontext_dense: list(type) = []; feature_list_dense_types: list(type) = []; "
             "context_dense_shapes: list(shape) = []; feature_list_sparse_types: list(type) = []; "
             "feature_list_dense_shapes: list(shape) = []",
    .shape = SequenceShape<KeyForm::kScalars>,
    .reference = ParseSequenceExampleKernel<KeyForm::kScalars>,
});

}  // namespace
}  // namespace tenon
