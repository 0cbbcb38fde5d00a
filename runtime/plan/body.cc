#include "runtime/plan/body.h"

#include <algorithm>

#include "env/status.h"
#include "graph/object.h"
#include "runtime/execution/handle_items.h"
#include "runtime/execution/plan_call.h"
#include "runtime/plan/plan_builder.h"

namespace tenon {

void Body::OfLoop(const std::vector<bool>& invariant) {
  if (invariant_.empty()) invariant_ = invariant;
  invariant_.resize(model_->graph().inputs().size(), false);
  for (size_t i = 0; i < invariant_.size(); ++i) {
    invariant_[i] = invariant_[i] && i < invariant.size() && invariant[i];
  }
}

absl::StatusOr<std::shared_ptr<const FlatPlan>> Body::PlanFor(absl::Span<const Tensor> arguments,
                                                              absl::Span<const Shape> general,
                                                              const Services& services,
                                                              KernelCache& cache) {
  const int threads = services.threads;
  const bool changes = std::any_of(general.begin(), general.end(),
                                   [](const Shape& shape) { return !shape.IsComplete(); });
  if (changes && exact_plans_.load(std::memory_order_relaxed) >= kExactPlans) {
    if (std::shared_ptr<const FlatPlan> exact = plans_.GetIfReady(arguments, threads)) return exact;
    std::vector<TensorSpec> specs;
    bool fits = true;
    for (size_t i = 0; i < arguments.size(); ++i) {
      const Tensor& t = arguments[i];
      const bool list = HoldsObjects(t.dtype());
      fits &= list || general[i].CompatibleWith(t.shape());
      specs.push_back({t.dtype(), list ? FeedShape(t) : general[i], nullptr});
    }
    if (fits) {
      return plans_.GetGeneral(specs, threads, [&] {
        for (size_t i = 0; i < specs.size(); ++i) {
          if (HoldsObjects(specs[i].dtype)) {
            const Tensor* items = HoldsItems(arguments[i]) ? &arguments[i] : nullptr;
            specs[i] = {specs[i].dtype, arguments[i].shape(), items};
          }
        }
        return BuildFunctionPlan(model_, specs, {}, invariant_, services, cache);
      });
    }
  }
  return plans_.Get(arguments, threads, [&] {
    exact_plans_.fetch_add(1, std::memory_order_relaxed);
    std::vector<TensorSpec> specs;
    for (const Tensor& t : arguments) {
      specs.push_back({t.dtype(), t.shape(), HoldsItems(t) ? &t : nullptr});
    }
    return BuildFunctionPlan(model_, specs, {}, invariant_, services, cache);
  });
}

absl::StatusOr<std::shared_ptr<const FlatPlan>> Body::BuildSpecial(
    absl::Span<const TensorSpec> arguments, absl::Span<Constant* const> constants,
    const Services& services, KernelCache& cache) {
  special_plans_.fetch_add(1, std::memory_order_relaxed);
  return BuildFunctionPlan(model_, arguments, constants, invariant_, services, cache);
}

CacheStats Body::plan_stats() const {
  CacheStats stats = plans_.stats();
  stats.misses += special_plans_.load(std::memory_order_relaxed);
  return stats;
}

absl::StatusOr<std::shared_ptr<const FlatPlan>> SpecialFunction::PlanFor(
    absl::Span<const Tensor> arguments, absl::Span<const Shape> general, const Services& services,
    KernelCache& cache) {
  if (IsFor(*plan_, arguments)) return plan_;
  return other_.PlanFor(arguments, general, services, cache);
}

Body* Bodies::Find(const std::string& name) const {
  auto it = bodies_.find(name);
  return it == bodies_.end() ? nullptr : it->second.get();
}

void Bodies::Add(const std::string& name, std::unique_ptr<Body> body) {
  bodies_[name] = std::move(body);
}

}  // namespace tenon
