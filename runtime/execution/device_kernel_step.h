// Runs a kernel on a plug-in's device.
#ifndef TENON_RUNTIME_EXECUTION_DEVICE_KERNEL_STEP_H_
#define TENON_RUNTIME_EXECUTION_DEVICE_KERNEL_STEP_H_

#include <memory>
#include <string>
#include <utility>

#include "runtime/devices/kernel.h"
#include "runtime/execution/step.h"

namespace tenon {

class DeviceKernelStep final : public Step {
 public:
  // `op` is the op's public name.
  DeviceKernelStep(StepArgs args, std::shared_ptr<const DeviceKernel> kernel, std::string op)
      : Step(std::move(args)), kernel_(std::move(kernel)), op_(std::move(op)) {}

  absl::Status Run(Execution& run) const override;
  bool RunsMore() const override { return true; }
  void Describe(StepInfo& info) const override;

 private:
  const std::shared_ptr<const DeviceKernel> kernel_;
  const std::string op_;
};

}  // namespace tenon

#endif  // TENON_RUNTIME_EXECUTION_DEVICE_KERNEL_STEP_H_
