// Uses a tensor list as a stack, as gradients of loops do, without copying tensors that own their
// memory: a weight may be pushed in each iteration.
#ifndef TENON_RUNTIME_EXECUTION_LIST_STACK_STEP_H_
#define TENON_RUNTIME_EXECUTION_LIST_STACK_STEP_H_

#include "runtime/execution/step.h"

namespace tenon {

class ListPushStep final : public Step {
 public:
  using Step::Step;  // inputs: the list's handle, a tensor; output: the handle
  absl::Status Run(Execution& run) const override;
};

// Of a list all of whose tensors have one shape.
class ListPopStep final : public Step {
 public:
  using Step::Step;  // inputs: the list's handle, a shape; outputs: the handle, the tensor
  absl::Status Run(Execution& run) const override;
};

}  // namespace tenon

#endif  // TENON_RUNTIME_EXECUTION_LIST_STACK_STEP_H_
