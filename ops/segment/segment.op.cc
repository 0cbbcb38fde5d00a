// SegmentSum, SegmentMean, SegmentProd, SegmentMin, SegmentMax: rows combined by sorted segment
// ids. Segments without rows are 0 (1 for products).
#include "kernels/interface/axis.h"
#include "kernels/reduction/segments.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status SegmentShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  Shape out = c.input(0);
  if (!out.has_rank()) return absl::OkStatus();
  if (out.rank() < 1) return InvalidArgument("data must have at least one dimension");
  if (c.input(1).has_rank() && !Shape({out.dim(0)}).CompatibleWith(c.input(1))) {
    return InvalidArgument("segment_ids of shape ", c.input(1).ToString(), " for data of shape ",
                           out.ToString());
  }
  out.set_dim(0, -1);
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

template <SegmentOp op>
absl::StatusOr<std::unique_ptr<Kernel>> Segment(PrepareContext& p) {
  const Shape data = p.input_shape(0);
  const DType ids_type = p.input_dtype(1);
  return DispatchType(Numbers{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([data, ids_type](RunContext& run) -> absl::Status {
      const int64_t rows = data.dim(0), width = Product(data, 1, data.rank());
      const std::vector<int64_t> ids = IntegersAt(ids_type, run.input(1), rows);
      TENON_ASSIGN_OR_RETURN(const int64_t segments, CheckSortedIds(ids));
      Shape shape = data;
      shape.set_dim(0, segments);
      TENON_RETURN_IF_ERROR(shape.CheckedElements().status());
      TENON_ASSIGN_OR_RETURN(void* memory, run.AllocateOutput(0, shape));
      T* out = static_cast<T*>(memory);
      std::fill_n(out, segments * width, T(op == SegmentOp::kProd ? 1 : 0));
      std::vector<ComputeType<T>> acc(static_cast<size_t>(width));
      const T* row = run.input<T>(0);
      for (size_t i = 0; i < ids.size();) {
        // From the first row, not from a bound: the maximum of -inf alone is -inf.
        std::transform(row, row + width, acc.begin(), [](const T& v) { return ToCompute(v); });
        size_t end = i + 1;
        row += width;
        for (; end < ids.size() && ids[end] == ids[i]; ++end, row += width) {
          CombineRow(op, row, acc.data(), width);
        }
        FinishRow(op, static_cast<int64_t>(end - i), acc.data(), out + ids[i] * width, width);
        i = end;
      }
      return absl::OkStatus();
    });
  });
}

const OpRegistration segment_sum_op({
    .name = "SegmentSum",
    .inputs = "data: T, segment_ids: Tindices",
    .outputs = "output: T",
    .attrs = "T: type; Tindices: type",
    .types = "T: float double int32 uint8 int16 int8 complex64 int64 bfloat16 uint16 complex128 "
             "half uint32 uint64; Tindices: int32 int64",
    .shape = SegmentShape,
    .reference = Segment<SegmentOp::kSum>,
});

const OpRegistration segment_mean_op({
    .name = "SegmentMean",
    .inputs = "data: T, segment_ids: Tindices",
    .outputs = "output: T",
    .attrs = "T: type; Tindices: type",
    .types = "T: float double int32 uint8 int16 int8 complex64 int64 bfloat16 uint16 complex128 "
             "half uint32 uint64; Tindices: int32 int64",
    .shape = SegmentShape,
    .reference = Segment<SegmentOp::kMean>,
});

const OpRegistration segment_prod_op({
    .name = "SegmentProd",
    .inputs = "data: T, segment_ids: Tindices",
    .outputs = "output: T",
    .attrs = "T: type; Tindices: type",
    .types = "T: float double int32 uint8 int16 int8 complex64 int64 bfloat16 uint16 complex128 "
             "half uint32 uint64; Tindices: int32 int64",
    .shape = SegmentShape,
    .reference = Segment<SegmentOp::kProd>,
});

const OpRegistration segment_min_op({
    .name = "SegmentMin",
    .inputs = "data: T, segment_ids: Tindices",
    .outputs = "output: T",
    .attrs = "T: type; Tindices: type",
    .types = "T: float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64; "
             "Tindices: int32 int64",
    .shape = SegmentShape,
    .reference = Segment<SegmentOp::kMin>,
});

const OpRegistration segment_max_op({
    .name = "SegmentMax",
    .inputs = "data: T, segment_ids: Tindices",
    .outputs = "output: T",
    .attrs = "T: type; Tindices: type",
    .types = "T: float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64; "
             "Tindices: int32 int64",
    .shape = SegmentShape,
    .reference = Segment<SegmentOp::kMax>,
});

}  // namespace
}  // namespace tenon
