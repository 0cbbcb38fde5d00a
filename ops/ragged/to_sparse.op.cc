// RaggedTensorToSparse: a ragged tensor's values with their coordinates.
#include <algorithm>
#include <vector>

#include "kernels/interface/axis.h"
#include "kernels/interface/types.h"
#include "kernels/ragged/nested_splits.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status ToSparseShape(ShapeContext& c) {
  const int splits = c.num_inputs() - 1;
  if (splits < 1) return InvalidArgument("RAGGED_RANK must be at least 1");
  for (int i = 0; i < splits; ++i) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 1));
  const Shape& values = c.input(splits);
  int64_t count = -1, rank = -1;
  if (values.has_rank()) {
    if (values.rank() == 0) return InvalidArgument("values must have an axis");
    rank = splits + values.rank();
    if (values.IsComplete()) count = values.num_elements();
  }
  c.set_output(0, Shape({count, rank}));
  c.set_output(1, Shape({count}));
  c.set_output(2, Shape({rank}));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> ToSparse(PrepareContext& p) {
  const int splits = p.num_inputs() - 1;
  std::vector<int64_t> sizes;
  for (int i = 0; i < splits; ++i) sizes.push_back(p.input_shape(i).dim(0));
  const Shape values = p.input_shape(splits);
  const DType dtype = p.input_dtype(splits), splits_type = p.input_dtype(0);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const NestedSplits nested,
                           ReadSplits(run, splits_type, sizes, values.dim(0), true));
    const int64_t count = values.num_elements(), inner = Product(values, 1, values.rank());
    int64_t* to = run.output<int64_t>(0);
    std::vector<size_t> row(nested.size(), 0);  // of each level, the row that contains the value
    for (int64_t i = 0; i < count; ++i) {
      int64_t at = i / inner;
      std::vector<int64_t> places;  // innermost level first
      for (size_t k = nested.size(); k-- > 0;) {
        while (nested[k][row[k] + 1] <= at) ++row[k];
        places.push_back(at - nested[k][row[k]]);
        at = static_cast<int64_t>(row[k]);
      }
      *to++ = at;
      to = std::copy(places.rbegin(), places.rend(), to);
      int64_t rest = i % inner, size = inner;
      for (int d = 1; d < values.rank(); ++d) {
        size /= values.dim(d);
        *to++ = rest / size;
        rest %= size;
      }
    }
    VisitStorage(dtype,
                 [&]<typename T>() { std::copy_n(run.input<T>(splits), count, run.output<T>(1)); });
    int64_t* shape = run.output<int64_t>(2);
    *shape++ = sizes[0] - 1;
    for (const std::vector<int64_t>& level : nested) {
      int64_t longest = 0;
      for (size_t i = 1; i < level.size(); ++i)
        longest = std::max(longest, level[i] - level[i - 1]);
      *shape++ = longest;
    }
    for (int d = 1; d < values.rank(); ++d) *shape++ = values.dim(d);
    return absl::OkStatus();
  });
}

const OpRegistration ragged_tensor_to_sparse({
    .name = "RaggedTensorToSparse",
    .inputs = "rt_nested_splits: RAGGED_RANK * Tsplits, rt_dense_values: T",
    .outputs = "sparse_indices: int64, sparse_values: T, sparse_dense_shape: int64",
    .attrs = "RAGGED_RANK: int; T: type; Tsplits: type = int64",
    .types = "Tsplits: int32 int64",
    .shape = ToSparseShape,
    .reference = ToSparse,
});

}  // namespace
}  // namespace tenon
