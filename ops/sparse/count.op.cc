// DenseCountSparseOutput, SparseCountSparseOutput, RaggedCountSparseOutput: how often each number
// occurs in each row, or the sum of the weights at its places, as a sparse tensor.
#include <algorithm>
#include <map>

#include "kernels/reduction/segments.h"
#include "kernels/sparse/coordinates.h"
#include "ops/op.h"
#include "ops/sparse/sparse_shape.h"

namespace tenon {
namespace {

enum class Rows { kDense, kSparse, kSplits };

template <Rows rows>
struct Inputs {
  static constexpr int kValues = rows == Rows::kDense ? 0 : 1;
  static constexpr int kShape = 2;  // of kSparse
  static constexpr int kWeights = rows == Rows::kSparse ? 3 : kValues + 1;
};

template <Rows rows>
absl::Status CountShape(ShapeContext& c) {
  using In = Inputs<rows>;
  const Shape &values = c.input(In::kValues), &weights = c.input(In::kWeights);
  if (weights.IsComplete() && values.IsComplete() && weights.num_elements() > 0 &&
      weights != values) {
    return InvalidArgument("weights must be empty or have the values' shape ", values.ToString(),
                           ", but have ", weights.ToString());
  }
  int64_t rank = 2;  // of the output
  if (rows == Rows::kDense) {
    rank = values.has_rank() ? values.rank() : -1;
    if (rank == 0 || rank > 2) return InvalidArgument("values must have 1 or 2 dimensions");
    if (rank == 2 && values.dim(0) == 0) return InvalidArgument("values must have rows");
  } else {
    TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  }
  if (rows == Rows::kSparse) {
    TENON_RETURN_IF_ERROR(ExpectSparse(c, 0));
    rank = c.input(2).has_rank() ? c.input(2).dim(0) : -1;
    if (rank == 0) return InvalidArgument("dense_shape must not be empty");
    rank = std::min<int64_t>(rank, 2);
  }
  if (rows == Rows::kSplits) {
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

template <Rows rows>
absl::StatusOr<std::unique_ptr<Kernel>> Count(PrepareContext& p) {
  using In = Inputs<rows>;
  const int64_t least = p.attrs().Int("minlength", -1), most = p.attrs().Int("maxlength", -1);
  if (least < -1 || most < -1) return InvalidArgument("a length below -1");
  const bool binary = p.attrs().Bool("binary_output", false);
  const Shape first = p.input_shape(0), values_shape = p.input_shape(In::kValues);
  const int64_t n = values_shape.num_elements(), rank = p.output_shape(2).dim(0);
  const bool weighted = p.input_shape(In::kWeights).num_elements() > 0;
  const DType value_type = p.input_dtype(In::kValues);
  return DispatchType(
      TypeList<int32_t, int64_t, float, double>{}, p.output_dtype(1), [&]<typename T>() {
        return MakeKernel([=](RunContext& run) -> absl::Status {
          const std::vector<int64_t> values = IntegersAt(value_type, run.input(In::kValues), n);
          const T* weights = weighted ? run.input<T>(In::kWeights) : nullptr;
          const int64_t* where = rows == Rows::kDense ? nullptr : run.input<int64_t>(0);
          int64_t batches = 1, columns = 1;
          if (rows == Rows::kDense && rank == 2) batches = values_shape.dim(0);
          if (rows == Rows::kSparse) {
            columns = first.dim(1);
            TENON_RETURN_IF_ERROR(
                CheckCoordinates({where, n, columns}, run.input<int64_t>(In::kShape)));
            if (columns > 1) batches = *run.input<int64_t>(In::kShape);
            if (batches < 1 || batches >= INT32_MAX) {
              return InvalidArgument("dense_shape has ", batches, " rows");
            }
          }
          if (rows == Rows::kSplits) {
            batches = first.dim(0) - 1;
            if (where[0] != 0 || where[batches] != n ||
                !std::is_sorted(where, where + batches + 1)) {
              return InvalidArgument("splits must rise from 0 to the ", n, " values");
            }
          }
          std::map<std::pair<int64_t, int64_t>, T> counts;
          int64_t row = 0, largest = 0;
          for (int64_t i = 0; i < n; ++i) {
            const int64_t v = values[static_cast<size_t>(i)];
            if (rows == Rows::kDense && rank == 2) row = i / values_shape.dim(1);
            if (rows == Rows::kSparse && columns > 1) row = where[i * columns];
            if (rows == Rows::kSplits) {
              while (where[row + 1] <= i) ++row;
            }
            if (v < 0) return InvalidArgument("values must not be negative, but one is ", v);
            if (most <= 0 && v == INT64_MAX)
              return InvalidArgument("the value ", v, " is too large");
            if (most > 0 && v >= most) continue;
            T& count = counts[{row, v}];
            count = binary ? T(1) : WrapAdd(count, weighted ? weights[i] : T(1));
            largest = std::max(largest, v);
          }
          const int64_t found = std::ssize(counts);
          TENON_ASSIGN_OR_RETURN(void* at, run.AllocateOutput(0, Shape({found, rank})));
          TENON_ASSIGN_OR_RETURN(void* to, run.AllocateOutput(1, Shape({found})));
          int64_t* index = static_cast<int64_t*>(at);
          T* count = static_cast<T*>(to);
          for (const auto& [place, value] : counts) {
            if (rank == 2) *index++ = place.first;
            *index++ = place.second;
            *count++ = value;
          }
          int64_t* shape = run.output<int64_t>(2);
          if (rank == 2) *shape++ = batches;
          *shape = most > 0 ? most : std::max(largest + 1, least);
          return absl::OkStatus();
        });
      });
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
    .shape = CountShape<Rows::kDense>,
    .reference = Count<Rows::kDense>,
});

const OpRegistration sparse_count_op({
    .name = "SparseCountSparseOutput",
    .inputs = "indices: int64, values: T, dense_shape: int64, weights: output_type",
    .outputs = kOutputs,
    .attrs = kAttrs,
    .types = kTypes,
    .shape = CountShape<Rows::kSparse>,
    .reference = Count<Rows::kSparse>,
});

const OpRegistration ragged_count_op({
    .name = "RaggedCountSparseOutput",
    .inputs = "splits: int64, values: T, weights: output_type",
    .outputs = kOutputs,
    .attrs = kAttrs,
    .types = kTypes,
    .shape = CountShape<Rows::kSplits>,
    .reference = Count<Rows::kSplits>,
});

}  // namespace
}  // namespace tenon
