// Combines elements with updates, several of which may go to one element.
#ifndef TENON_KERNELS_XLA_SCATTER_IN_ROUNDS_H_
#define TENON_KERNELS_XLA_SCATTER_IN_ROUNDS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "graph/tensor.h"
#include "kernels/xla/element_calls.h"

namespace tenon {

// Element targets[i] of `result` is combined with element i of `updates`, in order; -1: it is not.
// Each round is one call, with at most one update of an element.
absl::Status ScatterInRounds(const std::vector<int64_t>& targets, const Tensor& updates,
                             ElementFunction combine, Tensor& result);

}  // namespace tenon

#endif  // TENON_KERNELS_XLA_SCATTER_IN_ROUNDS_H_
