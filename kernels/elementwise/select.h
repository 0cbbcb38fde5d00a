// Elements of one tensor or another, by a condition.
#ifndef TENON_KERNELS_ELEMENTWISE_SELECT_H_
#define TENON_KERNELS_ELEMENTWISE_SELECT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Inputs: condition (bool), t, e; any dtype. All broadcast to the output; the condition as if its
// shape were `condition`.
absl::StatusOr<std::unique_ptr<Kernel>> SelectKernel(PrepareContext& p, const Shape& condition);

}  // namespace tenon

#endif  // TENON_KERNELS_ELEMENTWISE_SELECT_H_
