// RaggedRange: one range per row.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/interface/types.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status RaggedRangeShape(ShapeContext& c) {
  int64_t rows = -1;
  for (int i = 0; i < 3; ++i) {
    const Shape& s = c.input(i);
    if (!s.has_rank() || s.rank() == 0) continue;
    if (s.rank() > 1)
      return InvalidArgument("starts, limits and deltas must be scalars or vectors");
    if (rows >= 0 && s.dim(0) >= 0 && s.dim(0) != rows) {
      return InvalidArgument("starts, limits and deltas must have one size");
    }
    if (s.dim(0) >= 0) rows = s.dim(0);
  }
  c.set_output(0, Shape({-1}));
  c.set_output(1, Shape({-1}));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> RaggedRange(PrepareContext& p) {
  int64_t rows = 1;
  std::vector<int64_t> steps;
  for (int i = 0; i < 3; ++i) {
    const Shape& s = p.input_shape(i);
    steps.push_back(s.rank() == 0 ? 0 : 1);
    if (s.rank() == 1) rows = s.dim(0);
  }
  const DType splits_type = p.output_dtype(0);
  return DispatchType(
      TypeList<bfloat16, float, double, int32_t, int64_t>{}, p.input_dtype(0), [&]<typename T>() {
        return MakeKernel([=](RunContext& run) -> absl::Status {
          const int64_t most =
              splits_type == DType::kInt32 ? std::numeric_limits<int32_t>::max() : int64_t{1} << 40;
          std::vector<int64_t> splits = {0};
          auto at = [&](int input, int64_t r) {
            return ToCompute(run.input<T>(input)[r * steps[static_cast<size_t>(input)]]);
          };
          for (int64_t r = 0; r < rows; ++r) {
            const auto start = at(0, r), limit = at(1, r), delta = at(2, r);
            if (delta == 0) return InvalidArgument("deltas must not be 0");
            int64_t size = 0;
            if ((delta > 0 && limit > start) || (delta < 0 && limit < start)) {
              const double exact = (static_cast<double>(limit) - static_cast<double>(start)) /
                                   static_cast<double>(delta);
              if (!(exact <= static_cast<double>(most)))
                return InvalidArgument("a range is too long");
              size = static_cast<int64_t>(std::ceil(exact));
            }
            if (splits.back() > most - size) return InvalidArgument("ranges that are too long");
            splits.push_back(splits.back() + size);
          }
          const int64_t count = static_cast<int64_t>(splits.size());
          TENON_ASSIGN_OR_RETURN(void* splits_out, run.AllocateOutput(0, Shape({count})));
          VisitTypes(TypeList<int32_t, int64_t>{}, splits_type, [&]<typename I>() {
            std::transform(splits.begin(), splits.end(), static_cast<I*>(splits_out),
                           [](int64_t v) { return static_cast<I>(v); });
          });
          TENON_ASSIGN_OR_RETURN(void* values_out, run.AllocateOutput(1, Shape({splits.back()})));
          T* out = static_cast<T*>(values_out);
          for (int64_t r = 0; r < rows; ++r) {
            T value = static_cast<T>(at(0, r));
            const size_t k = static_cast<size_t>(r);
            for (int64_t i = splits[k]; i < splits[k + 1]; ++i) {
              *out++ = value;
              value = static_cast<T>(WrapAdd(ToCompute(value), at(2, r)));
            }
          }
          return absl::OkStatus();
        });
      });
}

const OpRegistration ragged_range_op({
    .name = "RaggedRange",
    .inputs = "starts: T, limits: T, deltas: T",
    .outputs = "rt_nested_splits: Tsplits, rt_dense_values: T",
    .attrs = "T: type = int32; Tsplits: type = int64",
    .types = "T: bfloat16 float double int32 int64; Tsplits: int32 int64",
    .shape = RaggedRangeShape,
    .reference = RaggedRange,
});

}  // namespace
}  // namespace tenon
