// The kernel of a golden case's node, with the case's constants as a session would wrap them.
#ifndef TENON_TESTS_SUPPORT_PREPARED_CASE_H_
#define TENON_TESTS_SUPPORT_PREPARED_CASE_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/tensor.h"
#include "kernels/interface/constant.h"
#include "ops/evaluate.h"
#include "tests/support/golden_case.h"

namespace tenon {

struct PreparedCase {
  std::vector<std::unique_ptr<Constant>> constants;  // the kernel reads them; null: not constant
  PreparedKernel kernel;
};

// `node`: of the case, perhaps under its native name. `inputs`: one for each input of the case.
// Gives the errors of PrepareNode (ops/evaluate.h).
absl::StatusOr<PreparedCase> PrepareCase(const GoldenCase& golden, const Node& node,
                                         const std::vector<Tensor>& inputs,
                                         const Services& services);

}  // namespace tenon

#endif  // TENON_TESTS_SUPPORT_PREPARED_CASE_H_
