// Loop-invariant steps: what a loop's body or condition computes only from constants and from
// variables that all iterations share is computed by the first iteration and stays in the arena.
#ifndef TENON_RUNTIME_PLAN_ONCE_STEPS_H_
#define TENON_RUNTIME_PLAN_ONCE_STEPS_H_

#include <vector>

#include "runtime/execution/flat_plan.h"
#include "runtime/plan/plan_memory.h"

namespace tenon {

// Sets FlatStep::once where the plan's other steps can do with what the first iteration left, and
// keeps that in `memory`, as far as it is not too large. `invariant`: by feed. For plans that are
// complete but for PlanMemory::Finish.
void MarkOnce(const std::vector<bool>& invariant, FlatPlan& plan, PlanMemory& memory);

}  // namespace tenon

#endif  // TENON_RUNTIME_PLAN_ONCE_STEPS_H_
