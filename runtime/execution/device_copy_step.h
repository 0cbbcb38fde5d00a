// Copies of tensors between the host and a plug-in's device.
#ifndef TENON_RUNTIME_EXECUTION_DEVICE_COPY_STEP_H_
#define TENON_RUNTIME_EXECUTION_DEVICE_COPY_STEP_H_

#include <utility>

#include "runtime/devices/device.h"
#include "runtime/execution/step.h"

namespace tenon {

class CopyToDeviceStep final : public Step {
 public:
  CopyToDeviceStep(StepArgs args, const Device& device) : Step(std::move(args)), device_(device) {}
  absl::Status Run(Execution& run) const override;
  bool RunsMore() const override { return true; }
  void Describe(StepInfo& info) const override;

 private:
  const Device& device_;
};

class CopyToHostStep final : public Step {
 public:
  CopyToHostStep(StepArgs args, const Device& device) : Step(std::move(args)), device_(device) {}
  absl::Status Run(Execution& run) const override;
  bool RunsMore() const override { return true; }
  void Describe(StepInfo& info) const override;

 private:
  const Device& device_;
};

}  // namespace tenon

#endif  // TENON_RUNTIME_EXECUTION_DEVICE_COPY_STEP_H_
