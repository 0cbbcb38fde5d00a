// Running sums in the logarithmic domain along an axis, in vector code.
#ifndef TENON_KERNELS_REDUCTION_RUNNING_LOG_SUM_H_
#define TENON_KERNELS_REDUCTION_RUNNING_LOG_SUM_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Inputs: floats or doubles, the axis. Attributes exclusive, reverse.
absl::StatusOr<std::unique_ptr<Kernel>> RunningLogSumVector(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_REDUCTION_RUNNING_LOG_SUM_H_
