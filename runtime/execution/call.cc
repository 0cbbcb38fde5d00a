#include "runtime/execution/call.h"

#include <memory>
#include <string>
#include <utility>

#include "env/status.h"
#include "kernels/interface/types.h"
#include "runtime/execution/executor.h"
#include "runtime/plan/body.h"

namespace tenon {
namespace {

// TensorFlow's notion of truth: a scalar that is not zero or empty, another tensor that has
// elements.
bool IsTrue(const Tensor& t) {
  if (t.shape().rank() > 0) return t.num_elements() > 0;
  if (t.dtype() == DType::kString) return !t.data<std::string>()->empty();
  bool truth = false;
  VisitTypes(NumbersAndBool{}, t.dtype(), [&]<typename T>() { truth = *t.data<T>() != T(0); });
  return truth;
}

absl::StatusOr<int> BranchOf(const CallForm& form, const Tensor& selector) {
  if (form.kind == CallForm::kIf) return IsTrue(selector) ? 0 : 1;
  if (selector.num_elements() != 1) return InvalidArgument("the branch index must be a scalar");
  const int last = static_cast<int>(form.bodies.size()) - 1;
  const int32_t index = *selector.data<int32_t>();
  return index < 0 || index > last ? last : index;
}

absl::StatusOr<std::vector<Tensor>> RunBody(Body& body, absl::Span<const Tensor> feeds,
                                            const Services& services, KernelCache& cache) {
  TENON_ASSIGN_OR_RETURN(const std::shared_ptr<const Plan> plan,
                         body.PlanFor(feeds, services, cache));
  return RunPlanShared(*plan, feeds);
}

absl::StatusOr<std::vector<Tensor>> RunWhile(const CallForm& form, absl::Span<const Tensor> inputs,
                                             const Services& services, KernelCache& cache) {
  std::vector<Tensor> variables(inputs.begin(), inputs.end());
  while (true) {
    TENON_ASSIGN_OR_RETURN(const std::vector<Tensor> more,
                           RunBody(*form.bodies[0], variables, services, cache));
    if (!IsTrue(more[0])) return variables;
    TENON_ASSIGN_OR_RETURN(variables, RunBody(*form.bodies[1], variables, services, cache));
  }
}

}  // namespace

absl::StatusOr<std::vector<Tensor>> RunCall(const CallForm& form, absl::Span<const Tensor> inputs,
                                            const Services& services, KernelCache& cache) {
  if (form.kind == CallForm::kWhile) return RunWhile(form, inputs, services, cache);
  TENON_ASSIGN_OR_RETURN(const int branch, BranchOf(form, inputs[0]));
  return RunBody(*form.bodies[static_cast<size_t>(branch)], inputs.subspan(1), services, cache);
}

}  // namespace tenon
