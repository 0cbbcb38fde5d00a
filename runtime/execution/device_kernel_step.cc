#include "runtime/execution/device_kernel_step.h"

#include <vector>

#include "env/status.h"
#include "runtime/execution/device_stream.h"
#include "runtime/execution/execution.h"

namespace tenon {

absl::Status DeviceKernelStep::Run(Execution& run) const {
  TENON_ASSIGN_OR_RETURN(DeviceStream * stream, StreamOf(kernel_->device(), run.state));
  TENON_ASSIGN_OR_RETURN(std::vector<Tensor> given, run.Views(inputs()));
  // What only this step still reads is held by `given` alone: an output may have its memory.
  std::vector<bool> released;
  for (const StepArg& arg : inputs()) {
    const Buffer& buffer = run.BufferOf(arg);
    Tensor* const slot = arg.last_read ? run.Slot(buffer.kind, buffer.index) : nullptr;
    released.push_back(slot != nullptr);
    if (slot != nullptr) *slot = Tensor();
  }
  TENON_ASSIGN_OR_RETURN(std::vector<Tensor> made,
                         kernel_->Run(*stream, std::move(given), released));
  for (size_t i = 0; i < made.size(); ++i) {
    const StepArg& out = outputs()[i];
    if (!made[i].shape().CompatibleWith(out.shape)) {
      return Internal("the kernel of ", stream->device().name(), " gave output ", i, " of shape ",
                      made[i].shape().ToString(), "; expected ", out.shape.ToString());
    }
    run.Bring(out, std::move(made[i]));
  }
  return absl::OkStatus();
}

void DeviceKernelStep::Describe(StepInfo& info) const {
  info.op = op_;
  info.device = info.implementation = kernel_->device().name();
}

}  // namespace tenon
