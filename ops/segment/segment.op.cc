// SegmentSum, SegmentMean, SegmentProd, SegmentMin, SegmentMax: combine rows by sorted segment ids.
// Segments without rows are 0 (1 for products).
#include "kernels/reduction/segment_reduce.h"
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

const OpRegistration segment_sum_op({
    .name = "SegmentSum",
    .inputs = "data: T, segment_ids: Tindices",
    .outputs = "output: T",
    .attrs = "T: type; Tindices: type",
    .types = "T: float double int32 uint8 int16 int8 complex64 int64 bfloat16 uint16 complex128 "
             "half uint32 uint64; Tindices: int32 int64",
    .shape = SegmentShape,
    .reference = SortedSegments<SegmentOp::kSum>,
    .error_bound = ErrorBound::kSegmentSum,
});

const OpRegistration segment_mean_op({
    .name = "SegmentMean",
    .inputs = "data: T, segment_ids: Tindices",
    .outputs = "output: T",
    .attrs = "T: type; Tindices: type",
    .types = "T: float double int32 uint8 int16 int8 complex64 int64 bfloat16 uint16 complex128 "
             "half uint32 uint64; Tindices: int32 int64",
    .shape = SegmentShape,
    .reference = SortedSegments<SegmentOp::kMean>,
    .error_bound = ErrorBound::kSegmentSum,
});

const OpRegistration segment_prod_op({
    .name = "SegmentProd",
    .inputs = "data: T, segment_ids: Tindices",
    .outputs = "output: T",
    .attrs = "T: type; Tindices: type",
    .types = "T: float double int32 uint8 int16 int8 complex64 int64 bfloat16 uint16 complex128 "
             "half uint32 uint64; Tindices: int32 int64",
    .shape = SegmentShape,
    .reference = SortedSegments<SegmentOp::kProd>,
    .error_bound = ErrorBound::kSegmentProduct,
});

const OpRegistration segment_min_op({
    .name = "SegmentMin",
    .inputs = "data: T, segment_ids: Tindices",
    .outputs = "output: T",
    .attrs = "T: type; Tindices: type",
    .types = "T: float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64; "
             "Tindices: int32 int64",
    .shape = SegmentShape,
    .reference = SortedSegments<SegmentOp::kMin>,
    .error_bound = ErrorBound::kExact,
});

const OpRegistration segment_max_op({
    .name = "SegmentMax",
    .inputs = "data: T, segment_ids: Tindices",
    .outputs = "output: T",
    .attrs = "T: type; Tindices: type",
    .types = "T: float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64; "
             "Tindices: int32 int64",
    .shape = SegmentShape,
    .reference = SortedSegments<SegmentOp::kMax>,
    .error_bound = ErrorBound::kExact,
});

}  // namespace
}  // namespace tenon
