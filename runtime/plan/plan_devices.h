// The device part of a plan under construction: kernels for nodes placed on devices, and copies
// between a device and the host, at most one per tensor and direction.
#ifndef TENON_RUNTIME_PLAN_PLAN_DEVICES_H_
#define TENON_RUNTIME_PLAN_PLAN_DEVICES_H_

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "env/containers.h"
#include "runtime/devices/kernel.h"
#include "runtime/execution/flat_plan.h"
#include "runtime/plan/plan_memory.h"

namespace tenon {

// Adds a step without a prepared kernel.
void AppendStep(FlatPlan& plan, NodeId node, std::unique_ptr<Step> step);

class PlanDevices {
 public:
  PlanDevices(FlatPlan& plan, PlanMemory& memory) : plan_(plan), memory_(memory) {}

  // The kernel of an `_OnDevice` node. Errors name the node and the device.
  absl::StatusOr<std::shared_ptr<const DeviceKernel>> KernelOf(const Node& node);

  // The buffer that has the tensor of `buffer` on the device, or on the host; adds a step that
  // copies it if there is none yet. `reader` is the node that reads it.
  absl::StatusOr<int> OnDevice(const Device& device, int buffer, const TensorSpec& spec,
                               NodeId reader);
  absl::StatusOr<int> OnHost(const Device& device, int buffer, const TensorSpec& spec,
                             NodeId reader);
  // Copies a value known ahead during planning. `key` identifies it.
  absl::StatusOr<int> WeightOnDevice(const Device& device, const void* key, const Tensor& value);

  // A buffer for a tensor that `step` provides.
  absl::StatusOr<int> AddBrought(const TensorSpec& spec, int step);

 private:
  // T is the class of the step.
  template <typename T>
  void AddCopy(const Device& device, int from, int to, const TensorSpec& spec, NodeId reader);
  int now() const { return static_cast<int>(plan_.steps.size()); }

  FlatPlan& plan_;
  PlanMemory& memory_;
  HashMap<std::pair<int, const Device*>, int> on_device_;  // of a host buffer
  HashMap<int, int> on_host_;                              // of a device buffer
  HashMap<std::pair<const void*, const Device*>, int> weights_;
  HashMap<const Device*, std::shared_ptr<DeviceStream>> streams_;  // for weights
};

}  // namespace tenon

#endif  // TENON_RUNTIME_PLAN_PLAN_DEVICES_H_
