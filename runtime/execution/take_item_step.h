// A step that takes a tensor of known shape from a stack or a tensor array, without copying it.
#ifndef TENON_RUNTIME_EXECUTION_TAKE_ITEM_STEP_H_
#define TENON_RUNTIME_EXECUTION_TAKE_ITEM_STEP_H_

#include "runtime/execution/step.h"

namespace tenon {

class TakeItemStep final : public Step {
 public:
  // Inputs: the handle; of an array also the index and the flow.
  using Step::Step;
  absl::Status Run(Execution& run) const override;
};

}  // namespace tenon

#endif  // TENON_RUNTIME_EXECUTION_TAKE_ITEM_STEP_H_
