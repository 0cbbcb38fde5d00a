// An op whose shapes only the run finds out: shapes are inferred, the kernel prepared (through the
// kernel cache) and memory allocated when the step's turn comes.
#ifndef TENON_RUNTIME_EXECUTION_DYNAMIC_KERNEL_STEP_H_
#define TENON_RUNTIME_EXECUTION_DYNAMIC_KERNEL_STEP_H_

#include "graph/graph.h"
#include "ops/op.h"
#include "runtime/execution/step.h"

namespace tenon {

class DynamicKernelStep : public Step {
 public:
  // `node` outlives the step.
  DynamicKernelStep(StepArgs args, const Node& node, const OpInfo& op)
      : Step(std::move(args)), node_(node), op_(op) {}

  absl::Status Run(Execution& run) const override;

 protected:
  const Node& node_;
  const OpInfo& op_;
};

}  // namespace tenon

#endif  // TENON_RUNTIME_EXECUTION_DYNAMIC_KERNEL_STEP_H_
