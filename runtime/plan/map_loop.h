// Recognizes loops whose iterations do not depend on each other (runtime/execution/map_step.h).
#ifndef TENON_RUNTIME_PLAN_MAP_LOOP_H_
#define TENON_RUNTIME_PLAN_MAP_LOOP_H_

#include <optional>

#include "runtime/execution/map_step.h"
#include "runtime/plan/model_state.h"

namespace tenon {

// Nothing if the loop is of another form, or its iterations are too short to be shared among
// threads: only those that decode an image are known to take long enough.
std::optional<MapLoop> MapLoopOf(const ModelState& condition, const ModelState& body);

}  // namespace tenon

#endif  // TENON_RUNTIME_PLAN_MAP_LOOP_H_
