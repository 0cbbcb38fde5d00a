// DenseCountSparseOutput, SparseCountSparseOutput, RaggedCountSparseOutput: the number of
// occurrences of each number in each row, or the sum of the weights at its positions, as a sparse
// tensor.
#include "kernels/sparse/count.h"

#include <algorithm>

#include "ops/op.h"
#include "ops/sparse/sparse_shape.h"

namespace tenon {
namespace {

template <CountedRows rows>
absl::Status CountShape(ShapeContext& c) {
  constexpr CountInputs in = InputsOf(rows);
  const Shape &values = c.input(in.values), &weights = c.input(in.weights);
  if (weights.IsComplete() && values.IsComplete() && weights.num_elements() > 0 &&
      weights != values) {
    return InvalidArgument("weights must be empty or have the values' shape ", values.ToString(),
                           ", but have ", weights.ToString());
  }
  int64_t rank = 2;  // of the output
  if (rows == CountedRows::kDense) {
    rank = values.has_rank() ? values.rank() : -1;
    if (rank == 0 || rank > 2) return InvalidArgument("values must have 1 or 2 dimensions");
    if (rank == 2 && values.dim(0) == 0) return InvalidArgument("values must have rows");
  } else {
    TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  }
  if (rows == CountedRows::kSparse) {
    TENON_RETURN_IF_ERROR(ExpectSparse(c, 0));
    rank = c.input(2).has_rank() ? c.input(2).dim(0) : -1;
    if (rank == 0) return InvalidArgument("dense_shape must not be empty");
    rank = std::min<int64_t>(rank, 2);
  }
  if (rows == CountedRows::kSplits) {
    TENON_RETURN_IF_ERROR(c.ExpectRank(0, 1));
    const Shape& splits = c.input(0);
    if (splits.has_rank() && splits.dim(0) >= 0 && splits.dim(0) < 2) {
      return InvalidArgument("splits must have at least 2 elements");
    }
  }
  c.set_output(0, Shape({-1, rank}));
  c.set_output(1, Shape({-1}));
  c.set_output(2, Shape({rank}));
  return absl::OkStatus();
}

constexpr char kOutputs[] =
    "output_indices: int64, output_values: output_type, output_dense_shape: int64";

constexpr char kAttrs[] =
    "T: type; minlength: int = -1; maxlength: int = -1; binary_output: bool; output_type: type";

constexpr char kTypes[] = "T: int32 int64; output_type: int32 int64 float double";

const OpRegistration dense_count_op({
    .name = "DenseCountSparseOutput",
    .inputs = "values: T, weights: output_type",
    .outputs = kOutputs,
    .attrs = kAttrs,
    .types = kTypes,
    .shape = CountShape<CountedRows::kDense>,
    .reference = CountKernel<CountedRows::kDense>,
});

const OpRegistration sparse_count_op({
    .name = "SparseCountSparseOutput",
    .inputs = "indices: int64, values: T, dense_shape: int64, weights: output_type",
    .outputs = kOutputs,
    .attrs = kAttrs,
    .types = kTypes,
    .shape = CountShape<CountedRows::kSparse>,
    .reference = CountKernel<CountedRows::kSparse>,
});

const OpRegistration ragged_count_op({
    .name = "RaggedCountSparseOutput",
    .inputs = "splits: int64, values: T, weights: output_type",
    .outputs = kOutputs,
    .attrs = kAttrs,
    .types = kTypes,
    .shape = CountShape<CountedRows::kSplits>,
    .reference = CountKernel<CountedRows::kSplits>,
});

}  // namespace
}  // namespace tenon
