// Summaries for TensorBoard, which training steps of TensorFlow 1 return.
#include "kernels/strings/summary.h"

#include "env/status.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status ScalarSummaryShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(MergeShapes(c.input(0), c.input(1)).status());
  return ScalarShape(c);
}

const OpRegistration scalar_summary({
    .name = "ScalarSummary",
    .inputs = "tags: string, values: T",
    .outputs = "summary: string",
    .attrs = "T: type",
    .types = "T: float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64",
    .shape = ScalarSummaryShape,
    .reference = ScalarSummaryKernel,
});

// Input 0, a tag, is a scalar.
absl::Status TaggedSummaryShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(0, 0));
  return ScalarShape(c);
}

const OpRegistration histogram_summary({
    .name = "HistogramSummary",
    .inputs = "tag: string, values: T",
    .outputs = "summary: string",
    .attrs = "T: type = float",
    .types = "T: float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64",
    .shape = TaggedSummaryShape,
    .reference = HistogramSummaryKernel,
});

absl::Status TensorSummaryShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 0));
  return TaggedSummaryShape(c);
}

const OpRegistration tensor_summary({
    .name = "TensorSummaryV2",
    .inputs = "tag: string, tensor: T, serialized_summary_metadata: string",
    .outputs = "summary: string",
    .attrs = "T: type",
    .types = "T: half bfloat16 float double int8 int16 int32 int64 uint8 uint16 uint32 uint64 "
             "bool complex64 complex128 string",
    .shape = TensorSummaryShape,
    .reference = TensorSummaryKernel,
});

const OpRegistration merge_summary({
    .name = "MergeSummary",
    .inputs = "inputs: N * string",
    .outputs = "summary: string",
    .attrs = "N: int",
    .shape = ScalarShape,
    .reference = MergeSummaryKernel,
});

}  // namespace
}  // namespace tenon
