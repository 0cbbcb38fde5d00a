#include "kernels/ragged/cross.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "env/status.h"
#include "kernels/ragged/nested_splits.h"
#include "kernels/sparse/feature_cross.h"

namespace tenon {
namespace {

int CountOf(const Node& node, absl::string_view attr) {
  const auto* list = node.attr<std::vector<DType>>(attr);
  return list == nullptr ? 0 : static_cast<int>(list->size());
}

}  // namespace

absl::StatusOr<RaggedCrossLayout> ReadRaggedCrossLayout(const AttrReader& attrs) {
  RaggedCrossLayout layout;
  layout.ragged = CountOf(attrs.node(), "ragged_values_types");
  layout.sparse = CountOf(attrs.node(), "sparse_values_types");
  layout.dense = CountOf(attrs.node(), "dense_types");
  TENON_ASSIGN_OR_RETURN(layout.order, attrs.String("input_order"));
  if (CountOf(attrs.node(), "ragged_splits_types") != layout.ragged ||
      attrs.Int("Nsparse", 0) != layout.sparse) {
    return InvalidArgument("lists of one kind of column differ in length");
  }
  const auto& order = layout.order;
  if (std::ssize(order) != layout.ragged + layout.sparse + layout.dense ||
      std::count(order.begin(), order.end(), 'R') != layout.ragged ||
      std::count(order.begin(), order.end(), 'S') != layout.sparse ||
      std::count(order.begin(), order.end(), 'D') != layout.dense) {
    return InvalidArgument("input_order '", order, "' for ", layout.ragged, " ragged, ",
                           layout.sparse, " sparse and ", layout.dense, " dense columns");
  }
  return layout;
}

absl::StatusOr<std::unique_ptr<Kernel>> RaggedCrossKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const RaggedCrossLayout layout, ReadRaggedCrossLayout(p.attrs()));
  CrossValue value;
  value.start = static_cast<uint64_t>(p.attrs().Int("hash_key", 0));
  value.buckets = static_cast<uint64_t>(p.attrs().Int("num_buckets", 0));
  if (p.attrs().Int("num_buckets", 0) < 0) return InvalidArgument("num_buckets is negative");
  std::vector<TensorSpec> inputs;
  for (int i = 0; i < p.num_inputs(); ++i) inputs.push_back({p.input_dtype(i), p.input_shape(i)});
  const bool texts = p.output_dtype(0) == DType::kString;
  const DType splits_type = p.output_dtype(1);
  const Shape planned = p.output_shape(1);
  return MakeKernel([=](RunContext& run) -> absl::Status {
    auto shape = [&](int i) -> const Shape& { return inputs[static_cast<size_t>(i)].shape; };
    int64_t rows = planned.dim(0) - 1;  // -2: only sparse columns, whose shapes give the number
    for (int i = 0; i < layout.sparse; ++i) {
      const int64_t own = run.input<int64_t>(layout.shapes(i))[0];
      if (own < 0 || (rows >= 0 && own != rows)) {
        return InvalidArgument("sparse column ", i, " has ", own, " rows");
      }
      rows = own;
    }
    std::vector<FeatureColumn> columns;
    int next_ragged = 0, next_sparse = 0, next_dense = 0;
    for (const char kind : layout.order) {
      FeatureColumn column;
      int input = 0;
      if (kind == 'R') {
        input = next_ragged++;
        const int at = layout.splits(input);
        TENON_ASSIGN_OR_RETURN(
            NestedSplits splits,
            ReadSplits(run, inputs[static_cast<size_t>(at)].dtype, {shape(at).dim(0)},
                       shape(input).dim(0), /*complete=*/true, at));
        column.splits = std::move(splits[0]);
      } else if (kind == 'S') {
        input = layout.values(next_sparse);
        column.coordinates = run.input<int64_t>(layout.indices(next_sparse++));
        column.entries = shape(input).dim(0);
      } else {
        input = layout.denses(next_dense++);
        column.dense = shape(input).dim(1);
      }
      if (inputs[static_cast<size_t>(input)].dtype == DType::kString) {
        column.texts = run.input<std::string>(input);
      } else {
        column.numbers = run.input<int64_t>(input);
      }
      columns.push_back(std::move(column));
    }
    void* splits = run.output(1);
    if (!planned.IsComplete()) {
      if (rows == INT64_MAX) return InvalidArgument("too many rows");
      TENON_RETURN_IF_ERROR(Shape({rows + 1}).CheckedElements().status());
      TENON_ASSIGN_OR_RETURN(splits, run.AllocateOutput(1, Shape({rows + 1})));
    }
    int64_t total = 0, written = 0;
    auto end_rows = [&](int64_t until) {  // splits[written .. until] are the crosses so far
      for (; written <= until; ++written) {
        if (splits_type == DType::kInt64) {
          static_cast<int64_t*>(splits)[written] = total;
        } else {
          static_cast<int32_t*>(splits)[written] = static_cast<int32_t>(total);
        }
      }
    };
    TENON_RETURN_IF_ERROR(ForEachCrossedRow(columns, rows, [&](int64_t row, auto, int64_t n) {
      end_rows(row);
      total += n;
      return absl::OkStatus();
    }));
    end_rows(rows);
    if (splits_type == DType::kInt32 && total > INT32_MAX) {
      return InvalidArgument(total, " crosses are too many for int32 splits");
    }
    TENON_RETURN_IF_ERROR(Shape({total}).CheckedElements().status());
    TENON_ASSIGN_OR_RETURN(void* values, run.AllocateOutput(0, Shape({total})));
    int64_t n = 0;
    return ForEachCrossedRow(columns, rows, [&](int64_t, auto ranges, int64_t) {
      ForEachCross(ranges, [&](absl::Span<const int64_t> places) {
        if (texts) {
          static_cast<std::string*>(values)[n++] = value.Text(columns, places);
        } else {
          static_cast<int64_t*>(values)[n++] = value.Bucket(columns, places);
        }
      });
      return absl::OkStatus();
    });
  });
}

}  // namespace tenon
