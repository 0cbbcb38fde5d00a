#include "runtime/execution/plan_call.h"

#include <algorithm>

#include "env/status.h"
#include "kernels/lists/tensor_list.h"

namespace tenon {

bool IsFor(const FlatPlan& plan, absl::Span<const Tensor> arguments) {
  if (plan.feeds.size() != arguments.size()) return false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto& [dtype, shape] = plan.feeds[i];
    const Tensor& t = arguments[i];
    if (t.dtype() != dtype) return false;
    if (dtype == DType::kVariant) {
      if (FeedShape(t) != shape && !(shape.has_rank() && HasOnlyItemsOf(t, shape))) return false;
    } else if (dtype == DType::kResource) {
      if (shape.has_rank() && !HasOnlyItemsOf(t, shape)) return false;
    } else if (t.shape() != shape && (shape.IsComplete() || !shape.CompatibleWith(t.shape()))) {
      return false;
    }
  }
  return true;
}

namespace {

// Names the node at whose step the most bytes of the arena are in use.
absl::Status WithFullestStep(const FlatPlan& plan, const absl::Status& status) {
  if (plan.steps.empty()) return status;
  std::vector<int64_t> change(plan.steps.size() + 1, 0), written(plan.steps.size(), 0);
  const auto step_of = [&](int step) {
    return static_cast<size_t>(std::clamp<int>(step, 0, static_cast<int>(plan.steps.size()) - 1));
  };
  for (const ArenaUse& use : plan.arena_items) {
    const int64_t bytes = static_cast<int64_t>(use.bytes);
    change[step_of(use.first)] += bytes;
    change[step_of(use.last) + 1] -= bytes;
    if (!use.scratch) written[step_of(use.first)] += bytes;
  }
  size_t fullest = 0;
  int64_t most = 0, live = 0;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    live += change[i];
    if (live <= most) continue;
    most = live;
    fullest = i;
  }
  const Node& node = plan.graph->node(plan.steps[fullest].node);
  return Annotate(status,
                  absl::StrCat(NodeLabel(node), ": ", written[fullest], " bytes of outputs, in ",
                               plan.arena_bytes, " bytes of intermediate tensors"));
}

}  // namespace

absl::StatusOr<HeldState> HeldState::Of(const FlatPlan& plan) {
  HeldState held;
  absl::StatusOr<std::unique_ptr<ExecState>> state = plan.states->Take();
  if (!state.ok()) return WithFullestStep(plan, state.status());
  held.state_ = *std::move(state);
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
