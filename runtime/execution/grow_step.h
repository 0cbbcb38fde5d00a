// A concatenation whose shapes only the run finds out, as of a cache that grows in a loop. When the
// first part is what this step gave before, and the others come behind it in memory, only they are
// written, into memory that the step has to spare: its blocks double, so that n rows cost n copies
// of a row, not n^2 / 2 (less to spare where memory is limited). Rows once written never change, so
// earlier results stay what they are.
#ifndef TENON_RUNTIME_EXECUTION_GROW_STEP_H_
#define TENON_RUNTIME_EXECUTION_GROW_STEP_H_

#include "absl/types/span.h"
#include "runtime/execution/dynamic_kernel_step.h"

namespace tenon {

class GrowStep final : public DynamicKernelStep {
 public:
  // Whether the node may be such a concatenation.
  static bool Serves(const OpInfo& op, size_t inputs, absl::Span<const TensorSpec> outputs);

  // Its block is kept in ExecState::steps[state].
  GrowStep(StepArgs args, const Node& node, const OpInfo& op, int state)
      : DynamicKernelStep(std::move(args), node, op), state_(state) {}

  absl::Status Run(Execution& run) const override;

 private:
  const int state_;
};

}  // namespace tenon

#endif  // TENON_RUNTIME_EXECUTION_GROW_STEP_H_
