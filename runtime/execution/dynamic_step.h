// Steps of a plan whose shapes only the run finds out: shapes inferred, kernel prepared (through
// the kernel cache) and memory allocated when the step's turn comes.
#ifndef TENON_RUNTIME_EXECUTION_DYNAMIC_STEP_H_
#define TENON_RUNTIME_EXECUTION_DYNAMIC_STEP_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/plan/plan.h"

namespace tenon {

// One execution's tensors.
struct RunTensors {
  ExecState& state;
  absl::Span<const Tensor> feeds;
  std::vector<Tensor> outputs;  // Plan::owned_outputs
};

// The address of a constant, an arena tensor or strings; null for what each run decides.
void* FixedAddress(const Plan& plan, const ExecState& state, const Buffer& buffer);

// The tensor that `arg` stands for, over the run's memory.
absl::StatusOr<Tensor> ViewOf(const Plan& plan, RunTensors& run, const DynamicArg& arg);

// Makes `t` the tensor of a buffer that steps bring.
void Bring(const Plan& plan, ExecState& state, int buffer, Tensor t);

absl::Status RunDynamicStep(const Plan& plan, const Step& step, RunTensors& run);

}  // namespace tenon

#endif  // TENON_RUNTIME_EXECUTION_DYNAMIC_STEP_H_
