#include "runtime/execution/call_step.h"

#include <string>

#include "env/status.h"
#include "kernels/interface/types.h"
#include "runtime/execution/execution.h"

namespace tenon {
namespace {

// TensorFlow's definition of truth: a scalar that is not zero or empty, or another tensor that has
// elements.
bool IsTrue(const Tensor& t) {
  if (t.shape().rank() > 0) return t.num_elements() > 0;
  if (t.dtype() == DType::kString) return !t.data<std::string>()->empty();
  bool truth = false;
  VisitTypes(NumbersAndBool{}, t.dtype(), [&]<typename T>() { truth = *t.data<T>() != T(0); });
  return truth;
}

// Memory that another step may overwrite while a later one reads.
bool IsPassing(const Buffer& buffer) {
  return buffer.kind == Buffer::Kind::kArena || buffer.kind == Buffer::Kind::kStrings;
}

}  // namespace

absl::Status CallStep::Run(Execution& run) const {
  TENON_ASSIGN_OR_RETURN(const std::vector<Tensor> given, run.Views(inputs()));
  TENON_ASSIGN_OR_RETURN(std::vector<Tensor> results, Results(given, run));
  if (results.size() != outputs().size()) {
    return Internal("a function gave ", results.size(), " results, not ", outputs().size());
  }
  for (size_t i = 0; i < results.size(); ++i) {
    Tensor& t = results[i];
    const StepArg& out = outputs()[i];
    if (t.dtype() != out.dtype || !t.shape().CompatibleWith(out.shape)) {
      return InvalidArgument("result ", i, " is ", Name(t.dtype()), " of shape ",
                             t.shape().ToString(), "; expected ", Name(out.dtype), " of shape ",
                             out.shape.ToString());
    }
    for (size_t k = 0; k < given.size(); ++k) {
      if (!IsPassing(run.BufferOf(inputs()[k])) || !t.SharesBufferWith(given[k])) continue;
      TENON_ASSIGN_OR_RETURN(t, t.Clone());
      break;
    }
    run.Bring(out, std::move(t));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Tensor>> CallStep::Call(int function, absl::Span<const Tensor> arguments,
                                                   const Execution& run) const {
  return functions_[static_cast<size_t>(function)]->Call(arguments, run.plan.services,
                                                         *run.plan.cache);
}

absl::StatusOr<std::vector<Tensor>> IfStep::Results(absl::Span<const Tensor> inputs,
                                                    const Execution& run) const {
  return Call(IsTrue(inputs[0]) ? 0 : 1, inputs.subspan(1), run);
}

absl::StatusOr<std::vector<Tensor>> CaseStep::Results(absl::Span<const Tensor> inputs,
                                                      const Execution& run) const {
  const Tensor& selector = inputs[0];
  if (selector.num_elements() != 1) return InvalidArgument("the branch index must be a scalar");
  const int last = num_functions() - 1;
  const int32_t index = *selector.data<int32_t>();
  return Call(index < 0 || index > last ? last : index, inputs.subspan(1), run);
}

absl::StatusOr<std::vector<Tensor>> WhileStep::Results(absl::Span<const Tensor> inputs,
                                                       const Execution& run) const {
  std::vector<Tensor> variables(inputs.begin(), inputs.end());
  while (true) {
    TENON_ASSIGN_OR_RETURN(const std::vector<Tensor> more, Call(0, variables, run));
    if (!IsTrue(more[0])) return variables;
    TENON_ASSIGN_OR_RETURN(variables, Call(1, variables, run));
  }
}

}  // namespace tenon
