// Bodies: functions that control flow calls, each with its plans. There is one plan per set of
// input shapes, kept like the session's own, over the session's constants, variables and kernels.
#ifndef TENON_RUNTIME_PLAN_BODY_H_
#define TENON_RUNTIME_PLAN_BODY_H_

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "env/bounded_cache.h"
#include "env/containers.h"
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
  const std::shared_ptr<const ModelState>& shared_model() const { return model_; }
  int64_t plan_bytes() const { return plans_.bytes(); }
  // What was planned is a miss, BuildSpecial's plans included.
  CacheStats plan_stats() const;

  // Before the first plan: it is a loop's body or condition, and all iterations share these
  // arguments. Of several loops, what they agree on counts.
  void OfLoop(const std::vector<bool>& invariant);

  absl::StatusOr<std::shared_ptr<const FlatPlan>> PlanFor(absl::Span<const Tensor> arguments,
                                                          absl::Span<const Shape> general,
                                                          const Services& services,
                                                          KernelCache& cache) override;
  // As BuildFunctionPlan, a plan that the caller keeps.
  absl::StatusOr<std::shared_ptr<const FlatPlan>> BuildSpecial(
      absl::Span<const TensorSpec> arguments, absl::Span<Constant* const> constants,
      const Services& services, KernelCache& cache);

 private:
  static constexpr int kPlans = 64;
  static constexpr int64_t kPlanBytes = int64_t{64} << 20;
  // So many plans are made before a general one serves shapes that change from call to call:
  // enough for shapes that alternate, few beside the length of a tensor that grows.
  static constexpr int kExactPlans = 8;
  const std::shared_ptr<const ModelState> model_;
  std::vector<bool> invariant_;  // empty: of no loop
  PlanCache<FlatPlan> plans_;
  std::atomic<int> exact_plans_ = 0;
  std::atomic<int64_t> special_plans_ = 0;
};

// A function of one call, with a plan that knows more about the call's arguments than their shapes.
class SpecialFunction final : public Function {
 public:
  // `other` serves arguments of other shapes, and outlives this object.
  SpecialFunction(std::shared_ptr<const FlatPlan> plan, Function& other)
      : plan_(std::move(plan)), other_(other) {}

  absl::StatusOr<std::shared_ptr<const FlatPlan>> PlanFor(absl::Span<const Tensor> arguments,
                                                          absl::Span<const Shape> general,
                                                          const Services& services,
                                                          KernelCache& cache) override;

 private:
  const std::shared_ptr<const FlatPlan> plan_;
  Function& other_;
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
  HashMap<std::string, std::unique_ptr<Body>> bodies_;
};

}  // namespace tenon

#endif  // TENON_RUNTIME_PLAN_BODY_H_
