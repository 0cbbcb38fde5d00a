// One run of a flat plan: the tensors that its steps read and write.
#ifndef TENON_RUNTIME_EXECUTION_EXECUTION_H_
#define TENON_RUNTIME_EXECUTION_EXECUTION_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/execution/flat_plan.h"

namespace tenon {

// The address of a constant, an arena tensor or strings; null for buffers that each run decides.
void* FixedAddress(const FlatPlan& plan, const ExecState& state, const Buffer& buffer);

class Execution {
 public:
  // `owned` are the feeds if the run may take them, or else empty. `stop_when`: null if nothing
  // stops the run.
  Execution(const FlatPlan& p, ExecState& s, absl::Span<const Tensor> f, absl::Span<Tensor> owned,
            const StopCondition* stop_when)
      : plan(p), state(s), feeds(f), owned_feeds(owned), stop(stop_when) {}

  const Buffer& BufferOf(const StepArg& arg) const {
    return plan.buffers[static_cast<size_t>(arg.buffer)];
  }
  // The tensor that `arg` stands for, over the run's memory.
  absl::StatusOr<Tensor> View(const StepArg& arg) const;
  absl::StatusOr<std::vector<Tensor>> Views(absl::Span<const StepArg> args) const;
  // As View for a step that may give the tensor away: after the last read, the run lets go of it.
  absl::StatusOr<Tensor> Take(const StepArg& arg);
  // Where the run holds the tensor of a feed that it owns, of an output or of a dynamic index;
  // null: nowhere.
  Tensor* Slot(Buffer::Kind kind, int index);
  // Makes `t` the tensor of an output that the step brings.
  void Bring(const StepArg& output, Tensor t) { BringAt(BufferOf(output).index, std::move(t)); }
  void BringAt(int dynamic, Tensor t);

  const FlatPlan& plan;
  ExecState& state;
  const absl::Span<const Tensor> feeds;
  const absl::Span<Tensor> owned_feeds;
  const StopCondition* const stop;
  std::optional<int64_t> iterations;  // of the step that ran last, if it is a loop

 private:
  absl::StatusOr<Tensor> PartOf(const StepArg& arg, const Buffer& buffer) const;
};

}  // namespace tenon

#endif  // TENON_RUNTIME_EXECUTION_EXECUTION_H_
