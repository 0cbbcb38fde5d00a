// What the segment ops share: rows of a tensor that belong to one segment are combined.
#ifndef TENON_KERNELS_REDUCTION_SEGMENTS_H_
#define TENON_KERNELS_REDUCTION_SEGMENTS_H_

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"
#include "kernels/interface/types.h"

namespace tenon {

enum class SegmentOp { kSum, kMean, kSqrtN, kProd, kMin, kMax };

// What a sum, product, minimum or maximum of nothing is.
template <typename T>
T SegmentIdentity(SegmentOp op) {
  if constexpr (!kIsComplex<T>) {
    using Limits = std::numeric_limits<T>;
    if (op == SegmentOp::kMin) return Limits::max();
    if (op == SegmentOp::kMax) return Limits::lowest();
  }
  return T(op == SegmentOp::kProd ? 1 : 0);
}

// acc[i] = acc[i] op row[i]; half and bfloat16 are accumulated in float.
template <typename T>
void CombineRow(SegmentOp op, const T* row, ComputeType<T>* acc, int64_t n) {
  switch (op) {
    case SegmentOp::kSum:
    case SegmentOp::kMean:
    case SegmentOp::kSqrtN:
      for (int64_t i = 0; i < n; ++i) acc[i] = WrapAdd(acc[i], ToCompute(row[i]));
      return;
    case SegmentOp::kProd:
      for (int64_t i = 0; i < n; ++i) acc[i] = WrapMul(acc[i], ToCompute(row[i]));
      return;
    case SegmentOp::kMin:
    case SegmentOp::kMax:
      if constexpr (!kIsComplex<T>) {
        if (op == SegmentOp::kMin) {
          for (int64_t i = 0; i < n; ++i) acc[i] = std::min(acc[i], ToCompute(row[i]));
        } else {
          for (int64_t i = 0; i < n; ++i) acc[i] = std::max(acc[i], ToCompute(row[i]));
        }
      }
      return;
  }
}

// The combined value of `count` rows as it is stored.
template <typename T>
void FinishRow(SegmentOp op, int64_t count, const ComputeType<T>* acc, T* out, int64_t n) {
  using C = ComputeType<T>;
  if (op == SegmentOp::kMean && count > 1) {
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(acc[i] / static_cast<C>(count));
  } else if (op == SegmentOp::kSqrtN && count > 1) {
    if constexpr (kIsFloat<T>) {
      const C root = std::sqrt(static_cast<C>(count));
      for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(acc[i] / root);
    }
  } else {
    for (int64_t i = 0; i < n; ++i) out[i] = static_cast<T>(acc[i]);
  }
}

// Elements of an integer input at Run.
std::vector<int64_t> IntegersAt(DType dtype, const void* data, int64_t n);

// The number of segments that sorted ids make: the last one plus 1. InvalidArgument where ids are
// negative or not sorted.
absl::StatusOr<int64_t> CheckSortedIds(const std::vector<int64_t>& ids);

// The value of a num_segments input: not negative.
absl::StatusOr<int64_t> NumSegments(const Tensor& t);

}  // namespace tenon

#endif  // TENON_KERNELS_REDUCTION_SEGMENTS_H_
