// Reverses tensors along axes, or shifts them cyclically. Any dtype.
#ifndef TENON_KERNELS_LAYOUT_REVERSE_H_
#define TENON_KERNELS_LAYOUT_REVERSE_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// The axes that a value names: numbers, or one flag per dimension. InvalidArgument if they do not
// match the rank.
absl::StatusOr<std::vector<bool>> ReversedAxes(const Tensor& axis, int rank);

// Input 1 names the axes.
absl::StatusOr<std::unique_ptr<Kernel>> ReverseKernel(PrepareContext& p);

// Shifts (input 1) along axes (input 2); shifts of the same axis add up. Unimplemented for more
// than 10 axes.
absl::StatusOr<std::unique_ptr<Kernel>> RollKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_LAYOUT_REVERSE_H_
