// Steps of a plan that run on a plug-in's device, or copy between it and the host.
#ifndef TENON_RUNTIME_EXECUTION_DEVICE_STEP_H_
#define TENON_RUNTIME_EXECUTION_DEVICE_STEP_H_

#include "absl/status/status.h"
#include "runtime/execution/dynamic_step.h"
#include "runtime/plan/plan.h"

namespace tenon {

absl::Status RunDeviceStep(const Plan& plan, const Step& step, const DynamicStep& dynamic,
                           RunTensors& run);

}  // namespace tenon

#endif  // TENON_RUNTIME_EXECUTION_DEVICE_STEP_H_
