// Calls of one plan inside a run, again and again: it keeps the plan's state, so that a call takes
// no lock and allocates nothing.
#ifndef TENON_RUNTIME_EXECUTION_PLAN_CALL_H_
#define TENON_RUNTIME_EXECUTION_PLAN_CALL_H_

#include <memory>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/execution/execution.h"
#include "runtime/execution/flat_plan.h"

namespace tenon {

// Whether the plan was made for such arguments.
bool IsFor(const FlatPlan& plan, absl::Span<const Tensor> arguments);

// A state taken from a plan's shelf, and put back. The plan outlives it.
class HeldState {
 public:
  static absl::StatusOr<HeldState> Of(const FlatPlan& plan);
  HeldState() = default;
  HeldState(HeldState&& other) = default;
  HeldState& operator=(HeldState&& other);
  ~HeldState() { PutBack(); }

  ExecState& operator*() const { return *state_; }

 private:
  void PutBack();

  const FlatPlan* plan_ = nullptr;
  std::unique_ptr<ExecState> state_;
};

class PlanCall {
 public:
  PlanCall() = default;
  PlanCall(PlanCall&&) = default;
  PlanCall& operator=(PlanCall&& other) {
    state_ = std::move(other.state_);  // before the plan that it belongs to
    plan_ = std::move(other.plan_);
    again_ = other.again_;
    return *this;
  }
  static absl::StatusOr<PlanCall> Of(std::shared_ptr<const FlatPlan> plan);

  bool Fits(absl::Span<const Tensor> arguments) const {
    return plan_ != nullptr && IsFor(*plan_, arguments);
  }

  // The next iteration is a loop's first.
  void BeginLoop() { again_ = false; }
  // Takes the arguments: where the caller held a tensor alone, its memory may become a result's.
  // Results may share memory with arguments, constants and variables.
  // `stop`: the caller's (Execution::stop).
  absl::Status Run(absl::Span<Tensor> arguments, const StopCondition* stop,
                   std::vector<Tensor>& results) {
    BeginLoop();
    return Iterate(arguments, stop, results);
  }
  // As Run, of a loop's body: what does not change from iteration to iteration is computed once.
  absl::Status Iterate(absl::Span<Tensor> arguments, const StopCondition* stop,
                       std::vector<Tensor>& results);
  // Whether the first result is true, of a loop's condition.
  absl::StatusOr<bool> Test(absl::Span<const Tensor> arguments, const StopCondition* stop);

 private:
  absl::Status Run(absl::Span<const Tensor> feeds, absl::Span<Tensor> owned,
                   const StopCondition* stop, absl::FunctionRef<absl::Status(Execution&)> collect);

  std::shared_ptr<const FlatPlan> plan_;
  HeldState state_;     // after the plan: put back first
  bool again_ = false;  // the state has what an earlier iteration computed once
};

}  // namespace tenon

#endif  // TENON_RUNTIME_EXECUTION_PLAN_CALL_H_
