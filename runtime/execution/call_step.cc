#include "runtime/execution/call_step.h"

#include <memory>

#include "absl/container/inlined_vector.h"
#include "env/status.h"
#include "ops/control/branch.h"
#include "runtime/execution/execution.h"

namespace tenon {
namespace {

// Memory that another step may overwrite while a later one reads.
bool IsPassing(const Buffer& buffer) {
  return buffer.kind == Buffer::Kind::kArena || buffer.kind == Buffer::Kind::kStrings;
}

}  // namespace

absl::Status CallStep::Run(Execution& run) const {
  std::unique_ptr<StepState>& kept = run.state.steps[static_cast<size_t>(state_)];
  if (kept == nullptr) {
    auto fresh = std::make_unique<Calls>();
    fresh->by_function.resize(functions_.size());
    kept = std::move(fresh);
  }
  Calls& calls = static_cast<Calls&>(*kept);
  calls.values.clear();
  absl::InlinedVector<const void*, 8> passing;
  for (const StepArg& arg : inputs()) {
    TENON_ASSIGN_OR_RETURN(Tensor t, run.Take(arg));
    if (IsPassing(run.BufferOf(arg))) passing.push_back(t.raw());
    calls.values.push_back(std::move(t));
  }
  absl::Status status = Results(run, calls);
  calls.values.clear();
  if (!status.ok()) return status;
  run.iterations = calls.iterations;

  if (calls.results.size() != outputs().size()) {
    return Internal("a function gave ", calls.results.size(), " results, not ", outputs().size());
  }
  for (size_t i = 0; i < calls.results.size(); ++i) {
    Tensor& t = calls.results[i];
    const StepArg& out = outputs()[i];
    if (t.dtype() != out.dtype || !t.shape().CompatibleWith(out.shape)) {
      return InvalidArgument("result ", i, " is ", Name(t.dtype()), " of shape ",
                             t.shape().ToString(), "; expected ", Name(out.dtype), " of shape ",
                             out.shape.ToString());
    }
    for (const void* memory : passing) {
      if (t.raw() != memory) continue;
      TENON_ASSIGN_OR_RETURN(t, t.Clone());
      break;
    }
    run.Bring(out, std::move(t));
  }
  calls.results.clear();
  return absl::OkStatus();
}

absl::StatusOr<PlanCall*> CallStep::CallOf(int function, absl::Span<const Tensor> arguments,
                                           absl::Span<const Shape> general, const Execution& run,
                                           Calls& calls) const {
  const size_t f = static_cast<size_t>(function);
  PlanCall& call = calls.by_function[f];
  TENON_RETURN_IF_ERROR(
      Fit(*functions_[f], arguments, general, run.plan.services, *run.plan.cache, call));
  return &call;
}

absl::Status CallStep::Fit(Function& function, absl::Span<const Tensor> arguments,
                           absl::Span<const Shape> general, const Services& services,
                           KernelCache& cache, PlanCall& call) {
  if (call.Fits(arguments)) return absl::OkStatus();
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<const FlatPlan> plan,
                         function.PlanFor(arguments, general, services, cache));
  call = PlanCall();  // gives its arena back before the next one is taken
  TENON_ASSIGN_OR_RETURN(call, PlanCall::Of(std::move(plan)));
  return absl::OkStatus();
}

ChoiceStep::ChoiceStep(StepArgs args, std::vector<Function*> functions, int state)
    : CallStep(std::move(args), std::move(functions), state) {
  for (size_t i = 1; i < inputs().size(); ++i) general_.push_back(inputs()[i].shape);
}

absl::Status ChoiceStep::Choose(int function, const Execution& run, Calls& calls) const {
  const absl::Span<Tensor> arguments = absl::MakeSpan(calls.values).subspan(1);
  TENON_ASSIGN_OR_RETURN(PlanCall * call, CallOf(function, arguments, general_, run, calls));
  return call->Run(arguments, run.stop, calls.results);
}

absl::Status IfStep::Results(const Execution& run, Calls& calls) const {
  return Choose(IsTrue(calls.values[0]) ? 0 : 1, run, calls);
}

absl::Status CaseStep::Results(const Execution& run, Calls& calls) const {
  const Tensor& selector = calls.values[0];
  if (selector.num_elements() != 1) return InvalidArgument("the branch index must be a scalar");
  return Choose(BranchOf(*selector.data<int32_t>(), num_functions()), run, calls);
}

absl::Status BranchStep::Results(const Execution& run, Calls& calls) const {
  return Choose(0, run, calls);
}

absl::Status WhileStep::Results(const Execution& run, Calls& calls) const {
  for (PlanCall& call : calls.by_function) call.BeginLoop();
  int64_t iterations = 0;
  for (;; ++iterations) {
    if (run.stop != nullptr) TENON_RETURN_IF_ERROR(run.stop->Check());
    TENON_ASSIGN_OR_RETURN(PlanCall * condition, CallOf(0, calls.values, general_, run, calls));
    TENON_ASSIGN_OR_RETURN(const bool more, condition->Test(calls.values, run.stop));
    if (!more) break;
    TENON_ASSIGN_OR_RETURN(PlanCall * body, CallOf(1, calls.values, general_, run, calls));
    TENON_RETURN_IF_ERROR(body->Iterate(absl::MakeSpan(calls.values), run.stop, calls.results));
    calls.values.swap(calls.results);
    calls.results.clear();
  }
  calls.results.swap(calls.values);
  calls.iterations = iterations;
  return absl::OkStatus();
}

}  // namespace tenon
