// SparseSegmentSum, SparseSegmentMean, SparseSegmentSqrtN, their forms with num_segments, and their
// gradients: combine the rows given by `indices` by sorted segment ids.
#include "kernels/reduction/segment_reduce.h"
#include "kernels/reduction/segments.h"
#include "ops/op.h"

namespace tenon {
namespace {

// Inputs: data or grad, indices, segment_ids, and in some forms a scalar with the number of output
// rows.
absl::Status SparseSegmentShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(1, 1));
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 1));
  if (!c.input(1).CompatibleWith(c.input(2))) {
    return InvalidArgument("indices and segment_ids must have one size, but have shapes ",
                           c.input(1).ToString(), " and ", c.input(2).ToString());
  }
  int64_t rows = -1;
  if (c.num_inputs() > 3) {
    TENON_RETURN_IF_ERROR(c.ExpectRank(3, 0));
    if (c.value(3) != nullptr) {
      TENON_ASSIGN_OR_RETURN(rows, NumSegments(*c.value(3)));
    }
  }
  Shape out = c.input(0);
  if (!out.has_rank()) return absl::OkStatus();
  if (out.rank() < 1) return InvalidArgument("data must have at least one dimension");
  out.set_dim(0, rows);
  if (out.IsComplete()) TENON_RETURN_IF_ERROR(out.CheckedElements().status());
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// The same for gradients that are rows and their indices.
absl::Status SparseGradientShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(SparseSegmentShape(c));
  Shape rows = c.outputs()[0];
  if (rows.has_rank()) rows.set_dim(0, -1);
  c.set_output(0, std::move(rows));
  c.set_output(1, Shape({-1}));
  return absl::OkStatus();
}

constexpr char kFloatTypes[] =
    "T: bfloat16 half float double; Tidx: int32 int64; Tsegmentids: int32 int64";
constexpr char kRealTypes[] =
    "T: float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64; "
    "Tidx: int32 int64; Tsegmentids: int32 int64";

OpRow Row(const char* name, const char* types, KernelFactory reference) {
  return {
      .name = name,
      .inputs = "data: T, indices: Tidx, segment_ids: Tsegmentids",
      .outputs = "output: T",
      .attrs =
          "T: type; Tidx: type = int32; Tsegmentids: type = int32; sparse_gradient: bool = false",
      .types = types,
      .shape = SparseSegmentShape,
      .reference = reference,
      .error_bound = ErrorBound::kSegmentSum,
  };
}

OpRow WithNumSegments(const char* name, const char* types, KernelFactory reference) {
  OpRow row = Row(name, types, reference);
  row.inputs = "data: T, indices: Tidx, segment_ids: Tsegmentids, num_segments: Tnumsegments";
  row.attrs =
      "T: type; Tidx: type = int32; Tnumsegments: type = int32; Tsegmentids: type = int32; "
      "sparse_gradient: bool = false";
  return row;
}

OpRow Gradient(const char* name, KernelFactory reference) {
  OpRow row = Row(name, kFloatTypes, reference);
  row.inputs = "grad: T, indices: Tidx, segment_ids: Tsegmentids, output_dim0: int32";
  row.attrs = "T: type; Tidx: type = int32; Tsegmentids: type = int32";
  return row;
}

OpRow SparseGradient(const char* name, KernelFactory reference) {
  OpRow row = Row(name, kFloatTypes, reference);
  row.inputs = "grad: T, indices: Tidx, segment_ids: Tsegmentids, dense_output_dim0: int32";
  row.outputs = "output: T, sorted_unique_indices: Tidx";
  row.attrs = "T: type; Tidx: type = int32; Tsegmentids: type = int32";
  row.shape = SparseGradientShape;
  return row;
}

const OpRegistration sum_op(Row("SparseSegmentSum", kRealTypes, SparseSegments<SegmentOp::kSum>));
const OpRegistration mean_op(Row("SparseSegmentMean", kFloatTypes,
                                 SparseSegments<SegmentOp::kMean>));
const OpRegistration sqrt_n_op(Row("SparseSegmentSqrtN", kFloatTypes,
                                   SparseSegments<SegmentOp::kSqrtN>));

const OpRegistration sum_with_num_segments_op(WithNumSegments("SparseSegmentSumWithNumSegments",
                                                              kRealTypes,
                                                              SparseSegments<SegmentOp::kSum>));
const OpRegistration mean_with_num_segments_op(WithNumSegments("SparseSegmentMeanWithNumSegments",
                                                               kFloatTypes,
                                                               SparseSegments<SegmentOp::kMean>));
const OpRegistration sqrt_n_with_num_segments_op(WithNumSegments(
    "SparseSegmentSqrtNWithNumSegments", kFloatTypes, SparseSegments<SegmentOp::kSqrtN>));

const OpRegistration sum_grad_op(Gradient("SparseSegmentSumGrad",
                                          SparseSegmentsGrad<SegmentOp::kSum>));
const OpRegistration mean_grad_op(Gradient("SparseSegmentMeanGrad",
                                           SparseSegmentsGrad<SegmentOp::kMean>));
const OpRegistration sqrt_n_grad_op(Gradient("SparseSegmentSqrtNGrad",
                                             SparseSegmentsGrad<SegmentOp::kSqrtN>));

const OpRegistration sum_grad_v2_op(SparseGradient("SparseSegmentSumGradV2",
                                                   SparseSegmentsSparseGrad<SegmentOp::kSum>));
const OpRegistration mean_grad_v2_op(SparseGradient("SparseSegmentMeanGradV2",
                                                    SparseSegmentsSparseGrad<SegmentOp::kMean>));
const OpRegistration sqrt_n_grad_v2_op(SparseGradient("SparseSegmentSqrtNGradV2",
                                                      SparseSegmentsSparseGrad<SegmentOp::kSqrtN>));

}  // namespace
}  // namespace tenon
