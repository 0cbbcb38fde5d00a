// Running sums in the logarithmic domain, as of CumulativeLogsumexp, in vector code.
#ifndef TENON_KERNELS_REDUCTION_RUNNING_LOG_SUM_SIMD_H_
#define TENON_KERNELS_REDUCTION_RUNNING_LOG_SUM_SIMD_H_

#include <cstddef>

namespace tenon {

// For each column, over `steps` rows, `row` elements apart: sum = log(e^sum + e^x). y gets the sum
// after x, or before it if `exclusive`. y may be x.
struct RunningLogSum {
  size_t steps = 0, columns = 0;
  ptrdiff_t row = 0;  // negative: backwards
  bool exclusive = false;
};
using RunningLogSumFn = void (*)(const RunningLogSum& s, const float* x, float* y, float* sums);
RunningLogSumFn FindRunningLogSum();

}  // namespace tenon

#endif  // TENON_KERNELS_REDUCTION_RUNNING_LOG_SUM_SIMD_H_
