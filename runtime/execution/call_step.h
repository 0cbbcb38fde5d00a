// Control flow: steps that call functions.
#ifndef TENON_RUNTIME_EXECUTION_CALL_STEP_H_
#define TENON_RUNTIME_EXECUTION_CALL_STEP_H_

#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/execution/function.h"
#include "runtime/execution/step.h"

namespace tenon {

// What all have in common: inputs given to functions, results taken from them.
class CallStep : public Step {
 public:
  // The functions outlive the step.
  CallStep(StepArgs args, std::vector<Function*> functions)
      : Step(std::move(args)), functions_(std::move(functions)) {}

  absl::Status Run(Execution& run) const final;

 protected:
  int num_functions() const { return static_cast<int>(functions_.size()); }
  absl::StatusOr<std::vector<Tensor>> Call(int function, absl::Span<const Tensor> arguments,
                                           const Execution& run) const;

 private:
  virtual absl::StatusOr<std::vector<Tensor>> Results(absl::Span<const Tensor> inputs,
                                                      const Execution& run) const = 0;

  const std::vector<Function*> functions_;
};

// Functions: then, else. Inputs: the condition, then the arguments.
class IfStep final : public CallStep {
 public:
  using CallStep::CallStep;

 private:
  absl::StatusOr<std::vector<Tensor>> Results(absl::Span<const Tensor> inputs,
                                              const Execution& run) const override;
};

// Functions: the branches. Inputs: the branch's index, then the arguments.
class CaseStep final : public CallStep {
 public:
  using CallStep::CallStep;

 private:
  absl::StatusOr<std::vector<Tensor>> Results(absl::Span<const Tensor> inputs,
                                              const Execution& run) const override;
};

// Functions: condition, body. Inputs: the loop's variables.
class WhileStep final : public CallStep {
 public:
  using CallStep::CallStep;

 private:
  absl::StatusOr<std::vector<Tensor>> Results(absl::Span<const Tensor> inputs,
                                              const Execution& run) const override;
};

}  // namespace tenon

#endif  // TENON_RUNTIME_EXECUTION_CALL_STEP_H_
