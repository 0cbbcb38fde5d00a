// UnsortedSegmentSum, UnsortedSegmentProd, UnsortedSegmentMin, UnsortedSegmentMax: ids in any
// order, with any shape that is a prefix of data's shape; negative ids are ignored. SegmentSumV2,
// SegmentProdV2, SegmentMinV2 and SegmentMaxV2 also ignore rows beyond the segments, and need not
// be sorted either: they exist for XLA, which does not ask.
#include "kernels/reduction/segment_reduce.h"
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

constexpr char kInputs[] = "data: T, segment_ids: Tindices, num_segments: Tnumsegments";
constexpr char kAttrs[] = "T: type; Tindices: type; Tnumsegments: type = int32";
constexpr char kNumbers[] =
    "T: float double int32 uint8 int16 int8 complex64 int64 bfloat16 uint16 complex128 half uint32 "
    "uint64; Tindices: int32 int64; Tnumsegments: int32 int64";
constexpr char kRealNumbers[] =
    "T: float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64; "
    "Tindices: int32 int64; Tnumsegments: int32 int64";

const OpRegistration unsorted_segment_sum_op({
    .name = "UnsortedSegmentSum",
    .inputs = kInputs,
    .outputs = "output: T",
    .attrs = kAttrs,
    .types = "T: float double int32 uint8 int16 int8 complex64 int64 bfloat16 uint16 complex128 "
             "half uint32 uint64; Tindices: int16 int32 int64; Tnumsegments: int32 int64",
    .shape = UnsortedShape,
    .reference = UnsortedSegments<SegmentOp::kSum>,
    .error_bound = ErrorBound::kSegmentSum,
});

const OpRegistration unsorted_segment_prod_op({
    .name = "UnsortedSegmentProd",
    .inputs = kInputs,
    .outputs = "output: T",
    .attrs = kAttrs,
    .types = kNumbers,
    .shape = UnsortedShape,
    .reference = UnsortedSegments<SegmentOp::kProd>,
    .error_bound = ErrorBound::kSegmentProduct,
});

const OpRegistration unsorted_segment_min_op({
    .name = "UnsortedSegmentMin",
    .inputs = kInputs,
    .outputs = "output: T",
    .attrs = kAttrs,
    .types = kRealNumbers,
    .shape = UnsortedShape,
    .reference = UnsortedSegments<SegmentOp::kMin>,
    .error_bound = ErrorBound::kExact,
});

const OpRegistration unsorted_segment_max_op({
    .name = "UnsortedSegmentMax",
    .inputs = kInputs,
    .outputs = "output: T",
    .attrs = kAttrs,
    .types = kRealNumbers,
    .shape = UnsortedShape,
    .reference = UnsortedSegments<SegmentOp::kMax>,
    .error_bound = ErrorBound::kExact,
});

const OpRegistration segment_sum_v2_op({
    .name = "SegmentSumV2",
    .inputs = kInputs,
    .outputs = "output: T",
    .attrs = kAttrs,
    .types = kNumbers,
    .shape = UnsortedShape,
    .reference = UnsortedSegments<SegmentOp::kSum, RowsBeyond::kIgnored>,
    .error_bound = ErrorBound::kSegmentSum,
});

const OpRegistration segment_prod_v2_op({
    .name = "SegmentProdV2",
    .inputs = kInputs,
    .outputs = "output: T",
    .attrs = kAttrs,
    .types = kNumbers,
    .shape = UnsortedShape,
    .reference = UnsortedSegments<SegmentOp::kProd, RowsBeyond::kIgnored>,
    .error_bound = ErrorBound::kSegmentProduct,
});

const OpRegistration segment_min_v2_op({
    .name = "SegmentMinV2",
    .inputs = kInputs,
    .outputs = "output: T",
    .attrs = kAttrs,
    .types = kRealNumbers,
    .shape = UnsortedShape,
    .reference = UnsortedSegments<SegmentOp::kMin, RowsBeyond::kIgnored>,
    .error_bound = ErrorBound::kExact,
});

const OpRegistration segment_max_v2_op({
    .name = "SegmentMaxV2",
    .inputs = kInputs,
    .outputs = "output: T",
    .attrs = kAttrs,
    .types = kRealNumbers,
    .shape = UnsortedShape,
    .reference = UnsortedSegments<SegmentOp::kMax, RowsBeyond::kIgnored>,
    .error_bound = ErrorBound::kExact,
});

}  // namespace
}  // namespace tenon
