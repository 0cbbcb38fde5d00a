#include "runtime/execution/plan_call.h"

#include "env/status.h"

namespace tenon {

bool IsFor(const FlatPlan& plan, absl::Span<const Tensor> arguments) {
  if (plan.feeds.size() != arguments.size()) return false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto& [dtype, shape] = plan.feeds[i];
    const Tensor& t = arguments[i];
    if (t.dtype() != dtype) return false;
    if (dtype == DType::kVariant) {
      if (FeedShape(t) != shape) return false;
    } else if (t.shape() != shape && (shape.IsComplete() || !shape.CompatibleWith(t.shape()))) {
      return false;
    }
  }
  return true;
}

absl::StatusOr<HeldState> HeldState::Of(const FlatPlan& plan) {
  HeldState held;
  TENON_ASSIGN_OR_RETURN(held.state_, plan.states->Take());
  held.plan_ = &plan;
  return held;
}

HeldState& HeldState::operator=(HeldState&& other) {
  if (this == &other) return *this;
  PutBack();
  plan_ = other.plan_;
  state_ = std::move(other.state_);
  return *this;
}

void HeldState::PutBack() {
  if (state_ == nullptr) return;
  state_->outputs.clear();
  state_->steps.clear();
  plan_->states->Give(std::move(state_));
}

absl::StatusOr<PlanCall> PlanCall::Of(std::shared_ptr<const FlatPlan> plan) {
  PlanCall call;
  TENON_ASSIGN_OR_RETURN(call.state_, HeldState::Of(*plan));
  call.plan_ = std::move(plan);
  return call;
}

}  // namespace tenon
