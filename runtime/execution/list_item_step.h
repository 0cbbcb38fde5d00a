// Takes a tensor out of a tensor list all of whose tensors have one shape.
#ifndef TENON_RUNTIME_EXECUTION_LIST_ITEM_STEP_H_
#define TENON_RUNTIME_EXECUTION_LIST_ITEM_STEP_H_

#include "runtime/execution/step.h"

namespace tenon {

class ListItemStep final : public Step {
 public:
  using Step::Step;  // inputs: the list's handle, an index; output: the tensor
  absl::Status Run(Execution& run) const override;
};

}  // namespace tenon

#endif  // TENON_RUNTIME_EXECUTION_LIST_ITEM_STEP_H_
