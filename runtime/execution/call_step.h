// Control flow: steps that call functions.
#ifndef TENON_RUNTIME_EXECUTION_CALL_STEP_H_
#define TENON_RUNTIME_EXECUTION_CALL_STEP_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/execution/function.h"
#include "runtime/execution/plan_call.h"
#include "runtime/execution/step.h"

namespace tenon {

// What all have in common: inputs given to functions, results taken from them. A tensor that nobody
// reads after the step passes into the function, and out again, as its owner: what the function
// changes of it is changed in place.
class CallStep : public Step {
 public:
  // The functions outlive the step. Its calls are kept in ExecState::steps[state].
  CallStep(StepArgs args, std::vector<Function*> functions, int state)
      : Step(std::move(args)), functions_(std::move(functions)), state_(state) {}

  absl::Status Run(Execution& run) const final;
  bool RunsMore() const final { return true; }

 protected:
  struct Calls final : StepState {
    std::vector<PlanCall> by_function;
    std::vector<PlanCall> members;  // of threads that run a function at once
    std::vector<Tensor> values, results;
    std::optional<int64_t> iterations;  // of a loop
  };

  int num_functions() const { return static_cast<int>(functions_.size()); }
  // The call of a function with such arguments.
  absl::StatusOr<PlanCall*> CallOf(int function, absl::Span<const Tensor> arguments,
                                   absl::Span<const Shape> general, const Execution& run,
                                   Calls& calls) const;
  // Makes `call` one of the function with such arguments, unless it is already.
  static absl::Status Fit(Function& function, absl::Span<const Tensor> arguments,
                          absl::Span<const Shape> general, const Services& services,
                          KernelCache& cache, PlanCall& call);

 private:
  // From the inputs in `values` to the results in `results`.
  virtual absl::Status Results(const Execution& run, Calls& calls) const = 0;

  const std::vector<Function*> functions_;
  const int state_;
};

// Steps that run one of their functions. The first input tells which; the arguments follow it.
class ChoiceStep : public CallStep {
 public:
  ChoiceStep(StepArgs args, std::vector<Function*> functions, int state);

 protected:
  absl::Status Choose(int function, const Execution& run, Calls& calls) const;

 private:
  std::vector<Shape> general_;  // what is known ahead of the arguments' shapes
};

// Functions: then, else.
class IfStep final : public ChoiceStep {
 public:
  using ChoiceStep::ChoiceStep;

 private:
  absl::Status Results(const Execution& run, Calls& calls) const override;
};

// Functions: the branches.
class CaseStep final : public ChoiceStep {
 public:
  using ChoiceStep::ChoiceStep;

 private:
  absl::Status Results(const Execution& run, Calls& calls) const override;
};

// Functions: the one branch that can be taken.
class BranchStep final : public ChoiceStep {
 public:
  using ChoiceStep::ChoiceStep;

 private:
  absl::Status Results(const Execution& run, Calls& calls) const override;
};

// Functions: condition, body. Inputs: the loop's variables.
class WhileStep : public CallStep {
 public:
  // `general`: for each variable, what its shapes in all iterations have in common.
  WhileStep(StepArgs args, std::vector<Function*> functions, int state, std::vector<Shape> general)
      : CallStep(std::move(args), std::move(functions), state), general_(std::move(general)) {}

 protected:
  absl::Status Results(const Execution& run, Calls& calls) const override;
  const std::vector<Shape>& general() const { return general_; }

 private:
  const std::vector<Shape> general_;
};

}  // namespace tenon

#endif  // TENON_RUNTIME_EXECUTION_CALL_STEP_H_
