// Tensors reversed along axes or shifted cyclically. Any dtype.
#ifndef TENON_KERNELS_LAYOUT_REVERSE_H_
#define TENON_KERNELS_LAYOUT_REVERSE_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// The axes that a value names: numbers, or a flag for each dimension. InvalidArgument where
// these do not fit the rank.
absl::StatusOr<std::vector<bool>> ReversedAxes(const Tensor& axis, int rank);

// Input 1 names the axes.
absl::StatusOr<std::unique_ptr<Kernel>> ReverseKernel(PrepareContext& p);

// Shifts (input 1) along axes (input 2); those of one axis add up. Unimplemented for more than
// 10 axes.
absl::StatusOr<std::unique_ptr<Kernel>> RollKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_LAYOUT_REVERSE_H_
