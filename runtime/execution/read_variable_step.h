// Takes a variable's tensor, of the shape that the plan was made for.
#ifndef TENON_RUNTIME_EXECUTION_READ_VARIABLE_STEP_H_
#define TENON_RUNTIME_EXECUTION_READ_VARIABLE_STEP_H_

#include "runtime/execution/step.h"

namespace tenon {

class ReadVariableStep final : public Step {
 public:
  using Step::Step;  // input: the handle; output: the value
  absl::Status Run(Execution& run) const override;
};

}  // namespace tenon

#endif  // TENON_RUNTIME_EXECUTION_READ_VARIABLE_STEP_H_
