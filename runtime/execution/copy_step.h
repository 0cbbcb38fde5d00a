// Copies a part of another tensor into memory of its own, for a result of the plan.
#ifndef TENON_RUNTIME_EXECUTION_COPY_STEP_H_
#define TENON_RUNTIME_EXECUTION_COPY_STEP_H_

#include "runtime/execution/step.h"

namespace tenon {

class CopyStep final : public Step {
 public:
  using Step::Step;
  absl::Status Run(Execution& run) const override;
};

}  // namespace tenon

#endif  // TENON_RUNTIME_EXECUTION_COPY_STEP_H_
