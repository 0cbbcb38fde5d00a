#include "runtime/execution/device_copy_step.h"

#include "env/status.h"
#include "runtime/execution/device_stream.h"
#include "runtime/execution/execution.h"

namespace tenon {

absl::Status CopyToDeviceStep::Run(Execution& run) const {
  TENON_ASSIGN_OR_RETURN(DeviceStream * stream, StreamOf(device_, run.state));
  TENON_ASSIGN_OR_RETURN(const Tensor host, run.View(inputs()[0]));
  TENON_ASSIGN_OR_RETURN(Tensor copy, stream->ToDevice(host));
  run.Bring(outputs()[0], std::move(copy));
  return absl::OkStatus();
}

void CopyToDeviceStep::Describe(StepInfo& info) const {
  info.op = "CopyToDevice";
  info.device = info.implementation = device_.name();
}

absl::Status CopyToHostStep::Run(Execution& run) const {
  TENON_ASSIGN_OR_RETURN(DeviceStream * stream, StreamOf(device_, run.state));
  TENON_ASSIGN_OR_RETURN(const Tensor there, run.View(inputs()[0]));
  const StepArg& out = outputs()[0];
  if (run.BufferOf(out).kind == Buffer::Kind::kDynamic) {
    TENON_ASSIGN_OR_RETURN(Tensor host, Tensor::Allocate(there.dtype(), there.shape()));
    TENON_RETURN_IF_ERROR(stream->ToHost(there, host.raw()));
    run.Bring(out, std::move(host));
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(Tensor host, run.View(out));
  return stream->ToHost(there, host.raw());
}

void CopyToHostStep::Describe(StepInfo& info) const {
  info.op = "CopyToHost";
  info.device = info.implementation = device_.name();
}

}  // namespace tenon
