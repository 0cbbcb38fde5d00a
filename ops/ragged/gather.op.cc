// RaggedGather: rows of a ragged tensor by their indices.
#include <algorithm>
#include <vector>

#include "kernels/interface/axis.h"
#include "kernels/interface/types.h"
#include "kernels/ragged/nested_splits.h"
#include "ops/op.h"

namespace tenon {
namespace {

// Inputs: row splits (PARAMS_RAGGED_RANK of them), values, indices.
absl::Status GatherShape(ShapeContext& c) {
  const int splits = c.num_inputs() - 2, out = c.num_outputs() - 1;
  if (splits < 1) return InvalidArgument("PARAMS_RAGGED_RANK must be at least 1");
  for (int i = 0; i < splits; ++i) TENON_RETURN_IF_ERROR(c.ExpectRank(i, 1));
  const Shape &values = c.input(splits), &indices = c.input(splits + 1);
  if (indices.has_rank() && indices.rank() - 1 + splits != out) {
    return InvalidArgument("OUTPUT_RAGGED_RANK is ", out, ", but must be ",
                           indices.rank() - 1 + splits);
  }
  for (int i = 0; i < out; ++i) c.set_output(i, Shape({-1}));
  if (!values.has_rank()) return absl::OkStatus();
  if (values.rank() == 0) return InvalidArgument("values must have an axis");
  Shape rows = values;
  rows.set_dim(0, -1);
  c.set_output(out, std::move(rows));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> Gather(PrepareContext& p) {
  const int splits = p.num_inputs() - 2, out = p.num_outputs() - 1;
  std::vector<int64_t> sizes;
  for (int i = 0; i < splits; ++i) sizes.push_back(p.input_shape(i).dim(0));
  const Shape values = p.input_shape(splits), indices = p.input_shape(splits + 1);
  const DType dtype = p.input_dtype(splits), index_type = p.input_dtype(splits + 1);
  const DType splits_type = p.input_dtype(0);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const NestedSplits nested,
                           ReadSplits(run, splits_type, sizes, values.dim(0), false));
    const std::vector<int64_t> wanted =
        IntegersAt(index_type, run.input(splits + 1), indices.num_elements());
    NestedSplits results(static_cast<size_t>(out), {0});
    // The dimensions of a dense `indices`, except the last, are split evenly.
    int64_t rows = 1;
    for (int d = 0; d + 1 < indices.rank(); ++d) {
      rows *= indices.dim(d);
      for (int64_t i = 1; i <= rows; ++i) {
        results[static_cast<size_t>(d)].push_back(i * indices.dim(d + 1));
      }
    }
    std::vector<std::pair<int64_t, int64_t>> ranges;
    int64_t count = 0;
    for (int64_t index : wanted) {
      if (index < 0 || index >= sizes[0] - 1) {
        return InvalidArgument("index ", index, " is not in [0, ", sizes[0] - 1, ")");
      }
      int64_t begin = index, end = index + 1;
      for (size_t i = 0; i < nested.size(); ++i) {
        const int to = static_cast<int>(i) + indices.rank() - 1;
        for (int64_t row = begin; to >= 0 && row < end; ++row) {
          std::vector<int64_t>& result = results[static_cast<size_t>(to)];
          const size_t k = static_cast<size_t>(row);
          result.push_back(result.back() + nested[i][k + 1] - nested[i][k]);
        }
        begin = nested[i][static_cast<size_t>(begin)];
        end = nested[i][static_cast<size_t>(end)];
      }
      ranges.push_back({begin, end});
      count += end - begin;
    }
    for (int i = 0; i < out; ++i) {
      const std::vector<int64_t>& result = results[static_cast<size_t>(i)];
      TENON_ASSIGN_OR_RETURN(void* memory, run.AllocateOutput(i, Shape({std::ssize(result)})));
      VisitTypes(TypeList<int32_t, int64_t>{}, splits_type, [&]<typename I>() {
        std::transform(result.begin(), result.end(), static_cast<I*>(memory),
                       [](int64_t v) { return static_cast<I>(v); });
      });
    }
    Shape shape = values;
    shape.set_dim(0, count);
    TENON_RETURN_IF_ERROR(shape.CheckedElements().status());
    TENON_ASSIGN_OR_RETURN(void* memory, run.AllocateOutput(out, shape));
    const int64_t width = Product(values, 1, values.rank());
    VisitStorage(dtype, [&]<typename T>() {
      T* to = static_cast<T*>(memory);
      for (const auto& [begin, end] : ranges) {
        to =
            std::copy(run.input<T>(splits) + begin * width, run.input<T>(splits) + end * width, to);
      }
    });
    return absl::OkStatus();
  });
}

const OpRegistration ragged_gather({
    .name = "RaggedGather",
    .inputs = "params_nested_splits: PARAMS_RAGGED_RANK * Tsplits, params_dense_values: Tvalues, "
              "indices: Tindices",
    .outputs = "output_nested_splits: OUTPUT_RAGGED_RANK * Tsplits, output_dense_values: Tvalues",
    .attrs = "Tvalues: type; Tindices: type; Tsplits: type = int64; PARAMS_RAGGED_RANK: int; "
             "OUTPUT_RAGGED_RANK: int",
    .types = "Tindices: int32 int64; Tsplits: int32 int64",
    .shape = GatherShape,
    .reference = Gather,
});

}  // namespace
}  // namespace tenon
