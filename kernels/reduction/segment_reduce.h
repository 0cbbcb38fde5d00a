// Reductions over segments: combines rows of the data with the same id into one row of the output.
// Ids and indices have any integer dtype; half and bfloat16 are accumulated in float.
#ifndef TENON_KERNELS_REDUCTION_SEGMENT_REDUCE_H_
#define TENON_KERNELS_REDUCTION_SEGMENT_REDUCE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"
#include "kernels/interface/late_kernel.h"

namespace tenon {

enum class SegmentOp { kSum, kMean, kSqrtN, kProd, kMin, kMax };

// Inputs: data [n, ...] and sorted ids [n]. The output has one row per id up to the last; segments
// without rows are 0 (1 for products). InvalidArgument at Run if ids are negative or not sorted.
// All numbers; minima and maxima of real ones.
absl::StatusOr<std::unique_ptr<Kernel>> SortedSegments(PrepareContext& p, SegmentOp op);

// What becomes of rows whose id is the number of segments or larger.
enum class RowsBeyond { kRefused, kIgnored };

// Inputs: data [ids' shape, ...], ids in any order and with any shape, and the number of segments.
// Negative ids are ignored; if rows beyond the segments are refused, InvalidArgument at Run. All
// numbers; minima and maxima of real ones. No means.
absl::StatusOr<std::unique_ptr<Kernel>> UnsortedSegments(PrepareContext& p, SegmentOp op,
                                                         RowsBeyond beyond);

// Combines the rows of the data given by indices. Inputs: data [n, ...], indices [k], sorted ids
// [k], and possibly the number of segments. InvalidArgument at Run for an index or id out of range.
// Sums of real numbers; means, and sums divided by the square root of the count, of floating-point
// ones.
absl::StatusOr<std::unique_ptr<Kernel>> SparseSegments(PrepareContext& p, SegmentOp op);

// The data's gradient for SparseSegments. Inputs: the output's gradient [segments, ...], indices
// [k], ids [k], the number of the data's rows. Floating-point dtypes.
absl::StatusOr<std::unique_ptr<Kernel>> SparseSegmentsGrad(PrepareContext& p, SegmentOp op);
// The same gradient as its rows that `indices` names, in their order, and the sorted indices.
absl::StatusOr<std::unique_ptr<Kernel>> SparseSegmentsSparseGrad(PrepareContext& p, SegmentOp op);

// Kernel factories. A number of output rows that is not known in Prepare is read at Run.
template <SegmentOp kOp>
absl::StatusOr<std::unique_ptr<Kernel>> SortedSegments(PrepareContext& p) {
  return SortedSegments(p, kOp);
}
template <SegmentOp kOp, RowsBeyond kBeyond = RowsBeyond::kRefused>
absl::StatusOr<std::unique_ptr<Kernel>> UnsortedSegments(PrepareContext& p) {
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, UnsortedSegments<kOp, kBeyond>, {2});
  return UnsortedSegments(p, kOp, kBeyond);
}
template <SegmentOp kOp>
absl::StatusOr<std::unique_ptr<Kernel>> SparseSegments(PrepareContext& p) {
  const bool late = p.num_inputs() > 3 && !p.output_shape(0).IsComplete();
  return late ? PrepareLate(p, SparseSegments<kOp>, {3}) : SparseSegments(p, kOp);
}
template <SegmentOp kOp>
absl::StatusOr<std::unique_ptr<Kernel>> SparseSegmentsGrad(PrepareContext& p) {
  if (!p.output_shape(0).IsComplete()) return PrepareLate(p, SparseSegmentsGrad<kOp>, {3});
  return SparseSegmentsGrad(p, kOp);
}

template <SegmentOp kOp>
absl::StatusOr<std::unique_ptr<Kernel>> SparseSegmentsSparseGrad(PrepareContext& p) {
  return SparseSegmentsSparseGrad(p, kOp);
}

}  // namespace tenon

#endif  // TENON_KERNELS_REDUCTION_SEGMENT_REDUCE_H_
