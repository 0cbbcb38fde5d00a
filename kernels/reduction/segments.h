// Reads segment ids and other integers at Run.
#ifndef TENON_KERNELS_REDUCTION_SEGMENTS_H_
#define TENON_KERNELS_REDUCTION_SEGMENTS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor.h"
#include "kernels/interface/types.h"

namespace tenon {

// The elements of an integer input at Run.
std::vector<int64_t> IntegersAt(DType dtype, const void* data, int64_t n);

// The number of segments for sorted ids: the last id plus 1. InvalidArgument if ids are negative or
// not sorted.
absl::StatusOr<int64_t> CheckSortedIds(const std::vector<int64_t>& ids);

// The value of a num_segments input, which must not be negative.
absl::StatusOr<int64_t> NumSegments(const Tensor& t);

}  // namespace tenon

#endif  // TENON_KERNELS_REDUCTION_SEGMENTS_H_
