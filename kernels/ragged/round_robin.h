// Shortens several sequences until together they fit, one element of each in turn.
#ifndef TENON_KERNELS_RAGGED_ROUND_ROBIN_H_
#define TENON_KERNELS_RAGGED_ROUND_ROBIN_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Inputs: the most elements of a row (int32 scalar), the values of N ragged tensors, and their row
// splits. Outputs: the values that remain, and their row splits.
absl::StatusOr<std::unique_ptr<Kernel>> RoundRobinTrimKernel(PrepareContext& p);

// Outputs: for each value, whether it remains.
absl::StatusOr<std::unique_ptr<Kernel>> RoundRobinMasksKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_RAGGED_ROUND_ROBIN_H_
