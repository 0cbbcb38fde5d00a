// One run of a flat plan: the tensors that its steps read and write.
#ifndef TENON_RUNTIME_EXECUTION_EXECUTION_H_
#define TENON_RUNTIME_EXECUTION_EXECUTION_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/execution/flat_plan.h"

namespace tenon {

// The address of a constant, an arena tensor or strings; null for buffers that each run decides.
void* FixedAddress(const FlatPlan& plan, const ExecState& state, const Buffer& buffer);

class Execution {
 public:
  Execution(const FlatPlan& p, ExecState& s, absl::Span<const Tensor> f)
      : plan(p), state(s), feeds(f) {}

  const Buffer& BufferOf(const StepArg& arg) const {
    return plan.buffers[static_cast<size_t>(arg.buffer)];
  }
  // The tensor that `arg` stands for, over the run's memory.
  absl::StatusOr<Tensor> View(const StepArg& arg) const;
  absl::StatusOr<std::vector<Tensor>> Views(absl::Span<const StepArg> args) const;
  // Makes `t` the tensor of an output that the step brings.
  void Bring(const StepArg& output, Tensor t);

  const FlatPlan& plan;
  ExecState& state;
  const absl::Span<const Tensor> feeds;
  std::vector<Tensor> outputs;  // FlatPlan::owned_outputs
};

}  // namespace tenon

#endif  // TENON_RUNTIME_EXECUTION_EXECUTION_H_
