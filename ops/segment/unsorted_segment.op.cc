// UnsortedSegmentSum, UnsortedSegmentProd, UnsortedSegmentMin, UnsortedSegmentMax: ids in any
// order, of any shape that data's shape begins with; negative ids are left out.
#include "kernels/interface/axis.h"
#include "kernels/interface/late_kernel.h"
#include "kernels/reduction/segments.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status UnsortedShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 0));
  const Shape& data = c.input(0);
  const Shape& ids = c.input(1);
  int64_t segments = -1;
  if (c.value(2) != nullptr) {
    TENON_ASSIGN_OR_RETURN(segments, NumSegments(*c.value(2)));
  }
  if (!data.has_rank() || !ids.has_rank()) return absl::OkStatus();
  if (ids.rank() > data.rank() ||
      !Shape(data.dims().subspan(0, static_cast<size_t>(ids.rank()))).CompatibleWith(ids)) {
    return InvalidArgument("data.shape must start with segment_ids.shape, but they are ",
                           data.ToString(), " and ", ids.ToString());
  }
  Shape out({segments});
  for (int i = ids.rank(); i < data.rank(); ++i) out.push_back(data.dim(i));
  if (out.IsComplete()) TENON_RETURN_IF_ERROR(out.CheckedElements().status());
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

template <SegmentOp op>
absl::StatusOr<std::unique_ptr<Kernel>> Unsorted(PrepareContext& p) {
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, Unsorted<op>, {2});
  p.InputNotRead(2);
  const Shape& out_shape = p.output_shape(0);
  const int64_t rows = p.input_shape(1).num_elements();
  const int64_t segments = out_shape.dim(0);
  const int64_t width = Product(out_shape, 1, out_shape.rank());
  const DType ids_type = p.input_dtype(1);
  return DispatchType(Numbers{}, p.input_dtype(0), [&]<typename T>() {
    using C = ComputeType<T>;
    if (kIsSmallFloat<T>) p.RequestScratch(static_cast<size_t>(segments * width) * sizeof(C));
    return MakeKernel([=](RunContext& run) -> absl::Status {
      const std::vector<int64_t> ids = IntegersAt(ids_type, run.input(1), rows);
      T* out = run.output<T>(0);
      C* acc = static_cast<C*>(kIsSmallFloat<T> ? run.scratch() : static_cast<void*>(out));
      std::fill_n(acc, segments * width, ToCompute(SegmentIdentity<T>(op)));
      const T* row = run.input<T>(0);
      for (int64_t id : ids) {
        if (id >= segments) {
          return InvalidArgument("segment id ", id, " is out of range [0, ", segments, ")");
        }
        if (id >= 0) CombineRow(op, row, acc + id * width, width);
        row += width;
      }
      if (kIsSmallFloat<T>) FinishRow(op, 1, acc, out, segments * width);
      return absl::OkStatus();
    });
  });
}

const OpRegistration unsorted_segment_sum_op({
    .name = "UnsortedSegmentSum",
    .inputs = "data: T, segment_ids: Tindices, num_segments: Tnumsegments",
    .outputs = "output: T",
    .attrs = "T: type; Tindices: type; Tnumsegments: type = int32",
    .types = "T: float double int32 uint8 int16 int8 complex64 int64 bfloat16 uint16 complex128 "
             "half uint32 uint64; Tindices: int16 int32 int64; Tnumsegments: int32 int64",
    .shape = UnsortedShape,
    .reference = Unsorted<SegmentOp::kSum>,
});

const OpRegistration unsorted_segment_prod_op({
    .name = "UnsortedSegmentProd",
    .inputs = "data: T, segment_ids: Tindices, num_segments: Tnumsegments",
    .outputs = "output: T",
    .attrs = "T: type; Tindices: type; Tnumsegments: type = int32",
    .types = "T: float double int32 uint8 int16 int8 complex64 int64 bfloat16 uint16 complex128 "
             "half uint32 uint64; Tindices: int32 int64; Tnumsegments: int32 int64",
    .shape = UnsortedShape,
    .reference = Unsorted<SegmentOp::kProd>,
});

const OpRegistration unsorted_segment_min_op({
    .name = "UnsortedSegmentMin",
    .inputs = "data: T, segment_ids: Tindices, num_segments: Tnumsegments",
    .outputs = "output: T",
    .attrs = "T: type; Tindices: type; Tnumsegments: type = int32",
    .types = "T: float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64; "
             "Tindices: int32 int64; Tnumsegments: int32 int64",
    .shape = UnsortedShape,
    .reference = Unsorted<SegmentOp::kMin>,
});

const OpRegistration unsorted_segment_max_op({
    .name = "UnsortedSegmentMax",
    .inputs = "data: T, segment_ids: Tindices, num_segments: Tnumsegments",
    .outputs = "output: T",
    .attrs = "T: type; Tindices: type; Tnumsegments: type = int32",
    .types = "T: float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64; "
             "Tindices: int32 int64; Tnumsegments: int32 int64",
    .shape = UnsortedShape,
    .reference = Unsorted<SegmentOp::kMax>,
});

}  // namespace
}  // namespace tenon
