// Bodies: functions that control flow calls, each with its plans. There is one plan per set of
// input shapes, kept like the session's own, over the session's constants, variables and kernels.
#ifndef TENON_RUNTIME_PLAN_BODY_H_
#define TENON_RUNTIME_PLAN_BODY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/execution/flat_plan.h"
#include "runtime/execution/function.h"
#include "runtime/plan/model_state.h"
#include "runtime/plan/plan_cache.h"

namespace tenon {

class Body final : public Function {
 public:
  explicit Body(std::shared_ptr<const ModelState> model)
      : model_(std::move(model)), plans_(kPlans, kPlanBytes) {}

  const ModelState& model() const { return *model_; }
  int64_t plan_bytes() const { return plans_.bytes(); }
  absl::StatusOr<std::shared_ptr<const FlatPlan>> PlanFor(absl::Span<const Tensor> feeds,
                                                          const Services& services,
                                                          KernelCache& cache);
  absl::StatusOr<std::vector<Tensor>> Call(absl::Span<const Tensor> arguments,
                                           const Services& services, KernelCache& cache) override;

 private:
  static constexpr int kPlans = 64;
  static constexpr int64_t kPlanBytes = int64_t{64} << 20;
  const std::shared_ptr<const ModelState> model_;
  PlanCache<FlatPlan> plans_;
};

// The functions that a control-flow node calls.
struct CallForm {
  enum Kind { kIf, kCase, kWhile } kind = kIf;
  // If: then, else. Case: the branches. While: condition, body.
  std::vector<Body*> bodies;
  int first_input = 0;  // the first input that is an argument of the functions
};

// Bodies by function name.
class Bodies {
 public:
  // Null if there is no such function.
  Body* Find(const std::string& name) const;
  void Add(const std::string& name, std::unique_ptr<Body> body);
  void ForEach(absl::FunctionRef<void(const Body&)> visit) const {
    for (const auto& [name, body] : bodies_) visit(*body);
  }

 private:
  absl::flat_hash_map<std::string, std::unique_ptr<Body>> bodies_;
};

bool IsCall(absl::string_view op);
// InvalidArgument if a function is missing or its signature does not match the node.
absl::StatusOr<CallForm> CallFormOf(const Node& node, const Bodies& bodies);

// The output shapes of a call, as far as they are known at planning time; unknown if they depend on
// data or change between iterations. A branch that cannot be planned reports its error at run time.
std::vector<Shape> CallOutputShapes(const CallForm& form, absl::Span<const TensorSpec> inputs,
                                    size_t num_outputs, const Services& services,
                                    KernelCache& cache);

}  // namespace tenon

#endif  // TENON_RUNTIME_PLAN_BODY_H_
