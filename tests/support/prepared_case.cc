#include "tests/support/prepared_case.h"

#include "env/status.h"

namespace tenon {

absl::StatusOr<PreparedCase> PrepareCase(const GoldenCase& golden, const Node& node,
                                         const std::vector<Tensor>& inputs,
                                         const Services& services) {
  PreparedCase prepared;
  std::vector<TensorSpec> specs;
  std::vector<Constant*> constants;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& t = inputs[i];
    const bool constant = golden.inputs[i].constant;
    specs.push_back({t.dtype(), t.shape(), constant ? &t : nullptr});
    prepared.constants.push_back(constant ? std::make_unique<Constant>(t) : nullptr);
    constants.push_back(prepared.constants.back().get());
  }
  TENON_ASSIGN_OR_RETURN(prepared.kernel, PrepareNode(node, specs, constants, services));
  return prepared;
}

}  // namespace tenon
