// An Einsum equation for given ranks: labels for every dimension, with the ellipsis expanded.
#ifndef TENON_KERNELS_MATMUL_EINSUM_EQUATION_H_
#define TENON_KERNELS_MATMUL_EINSUM_EQUATION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/shape.h"

namespace tenon {

struct EinsumLabels {
  std::vector<std::vector<int>> inputs;  // one label per dimension
  std::vector<int> output;
};

// Letters are labels. An ellipsis stands for the remaining dimensions: the same labels, counted
// from the right, in every operand (they broadcast); a label that is not in the output is summed.
// InvalidArgument if the equation does not parse or does not match the ranks.
absl::StatusOr<EinsumLabels> ParseEinsum(const std::string& equation, absl::Span<const int> ranks);

// The number of operands in the equation, before ranks are known.
absl::StatusOr<int> EinsumOperands(const std::string& equation);

}  // namespace tenon

#endif  // TENON_KERNELS_MATMUL_EINSUM_EQUATION_H_
