// StringJoin (elementwise), ReduceJoin (along dimensions), UnsortedSegmentJoin (by segment).
#include "kernels/strings/join.h"

#include "kernels/reduction/segments.h"
#include "ops/op.h"

namespace tenon {
namespace {

absl::Status JoinShape(ShapeContext& c) {
  Shape out;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const Shape& in = c.input(i);
    if (!in.has_rank()) {
      c.set_output(0, Shape::Unknown());
      return absl::OkStatus();
    }
    if (in.rank() == 0) continue;
    if (out.rank() > 0 && !out.CompatibleWith(in)) {
      return InvalidArgument("inputs must have one shape or be scalars: ", out.ToString(), " and ",
                             in.ToString());
    }
    if (out.rank() == 0 || !out.IsComplete()) out = in;
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status ReduceJoinShape(ShapeContext& c) {
  const Shape& in = c.input(0);
  if (!in.has_rank() || c.value(1) == nullptr) return absl::OkStatus();
  if (c.input(1).rank() > 1) return InvalidArgument("reduction_indices must be a vector");
  TENON_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, JoinedAxes(*c.value(1), in.rank()));
  Shape out;
  for (int i = 0; i < in.rank(); ++i) {
    const bool joined = std::find(axes.begin(), axes.end(), i) != axes.end();
    if (!joined) {
      out.push_back(in.dim(i));
    } else if (c.attrs().Bool("keep_dims", false)) {
      out.push_back(1);
    }
  }
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

absl::Status SegmentJoinShape(ShapeContext& c) {
  TENON_RETURN_IF_ERROR(c.ExpectRank(2, 0));
  const Shape& in = c.input(0);
  const Shape& ids = c.input(1);
  int64_t segments = -1;
  if (c.value(2) != nullptr) {
    TENON_ASSIGN_OR_RETURN(segments, NumSegments(*c.value(2)));
  }
  if (!in.has_rank() || !ids.has_rank()) return absl::OkStatus();
  if (ids.rank() > in.rank() ||
      !Shape(in.dims().subspan(0, static_cast<size_t>(ids.rank()))).CompatibleWith(ids)) {
    return InvalidArgument("inputs.shape must start with segment_ids.shape, but they are ",
                           in.ToString(), " and ", ids.ToString());
  }
  Shape out({segments});
  for (int i = ids.rank(); i < in.rank(); ++i) out.push_back(in.dim(i));
  if (out.IsComplete()) TENON_RETURN_IF_ERROR(out.CheckedElements().status());
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

const OpRegistration string_join_op({
    .name = "StringJoin",
    .inputs = "inputs: N * string",
    .outputs = "output: string",
    .attrs = "N: int; separator: string = ",
    .shape = JoinShape,
    .reference = StringJoinKernel,
});

const OpRegistration reduce_join_op({
    .name = "ReduceJoin",
    .inputs = "inputs: string, reduction_indices: int32",
    .outputs = "output: string",
    .attrs = "keep_dims: bool = false; separator: string = ",
    .shape = ReduceJoinShape,
    .reference = ReduceJoinKernel,
});

const OpRegistration unsorted_segment_join_op({
    .name = "UnsortedSegmentJoin",
    .inputs = "inputs: string, segment_ids: Tindices, num_segments: Tnumsegments",
    .outputs = "output: string",
    .attrs = "separator: string = ; Tindices: type; Tnumsegments: type = int32",
    .types = "Tindices: int32 int64; Tnumsegments: int32 int64",
    .shape = SegmentJoinShape,
    .reference = SegmentJoinKernel,
    .error_bound = ErrorBound::kSegmentSum,
});

}  // namespace
}  // namespace tenon
