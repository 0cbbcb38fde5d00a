// An Einsum equation over given ranks: labels for every dimension, the ellipsis spelled out.
#ifndef TENON_KERNELS_MATMUL_EINSUM_EQUATION_H_
#define TENON_KERNELS_MATMUL_EINSUM_EQUATION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/shape.h"

namespace tenon {

struct EinsumLabels {
  std::vector<std::vector<int>> inputs;  // a label for each dimension
  std::vector<int> output;
};

// Letters are labels. An ellipsis stands for the dimensions left over: the same labels, counted
// from the right, in every operand (they broadcast); one missing from the output is summed.
// InvalidArgument where the equation does not parse or does not fit the ranks.
absl::StatusOr<EinsumLabels> ParseEinsum(const std::string& equation, absl::Span<const int> ranks);

// Operands that the equation has, before ranks are known.
absl::StatusOr<int> EinsumOperands(const std::string& equation);

}  // namespace tenon

#endif  // TENON_KERNELS_MATMUL_EINSUM_EQUATION_H_
