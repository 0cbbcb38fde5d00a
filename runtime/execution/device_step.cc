#include "runtime/execution/device_step.h"

#include <utility>
#include <vector>

#include "env/status.h"
#include "runtime/devices/kernel.h"

namespace tenon {
namespace {

absl::StatusOr<DeviceStream*> StreamOf(const Device& device, ExecState& state) {
  for (const auto& stream : state.streams) {
    if (&stream->device() == &device) return stream.get();
  }
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<DeviceStream> stream, device.NewStream());
  state.streams.push_back(std::move(stream));
  return state.streams.back().get();
}

// Nobody reads this dynamic tensor after the step.
bool IsReleased(const Plan& plan, const Step& step, const Buffer& buffer) {
  if (buffer.kind != Buffer::Kind::kHeld && buffer.kind != Buffer::Kind::kDynamic) return false;
  for (int i = step.release_begin; i < step.release_end; ++i) {
    if (plan.releases[static_cast<size_t>(i)] == buffer.index) return true;
  }
  return false;
}

absl::Status RunToDevice(const Plan& plan, const DynamicStep& step, DeviceStream& stream,
                         RunTensors& run) {
  TENON_ASSIGN_OR_RETURN(const Tensor host, ViewOf(plan, run, step.inputs[0]));
  TENON_ASSIGN_OR_RETURN(Tensor copy, stream.ToDevice(host));
  Bring(plan, run.state, step.outputs[0].buffer, std::move(copy));
  return absl::OkStatus();
}

absl::Status RunToHost(const Plan& plan, const DynamicStep& step, DeviceStream& stream,
                       RunTensors& run) {
  TENON_ASSIGN_OR_RETURN(const Tensor there, ViewOf(plan, run, step.inputs[0]));
  const DynamicArg& out = step.outputs[0];
  const Buffer& buffer = plan.buffers[static_cast<size_t>(out.buffer)];
  if (buffer.kind == Buffer::Kind::kDynamic) {
    TENON_ASSIGN_OR_RETURN(Tensor host, Tensor::Allocate(there.dtype(), there.shape()));
    TENON_RETURN_IF_ERROR(stream.ToHost(there, host.raw()));
    Bring(plan, run.state, out.buffer, std::move(host));
    return absl::OkStatus();
  }
  TENON_ASSIGN_OR_RETURN(Tensor host, ViewOf(plan, run, out));
  return stream.ToHost(there, host.raw());
}

absl::Status RunKernelThere(const Plan& plan, const Step& step, const DynamicStep& dynamic,
                            DeviceStream& stream, RunTensors& run) {
  std::vector<Tensor> inputs;
  for (const DynamicArg& arg : dynamic.inputs) {
    TENON_ASSIGN_OR_RETURN(Tensor t, ViewOf(plan, run, arg));
    inputs.push_back(std::move(t));
  }
  // What only this step still reads is held by `inputs` alone: an output may have its memory.
  std::vector<bool> released;
  for (const DynamicArg& arg : dynamic.inputs) {
    const Buffer& buffer = plan.buffers[static_cast<size_t>(arg.buffer)];
    released.push_back(IsReleased(plan, step, buffer));
    if (released.back()) run.state.dynamic[static_cast<size_t>(buffer.index)] = Tensor();
  }
  TENON_ASSIGN_OR_RETURN(std::vector<Tensor> outputs,
                         dynamic.device_kernel->Run(stream, std::move(inputs), released));
  for (size_t i = 0; i < outputs.size(); ++i) {
    const DynamicArg& out = dynamic.outputs[i];
    if (!outputs[i].shape().CompatibleWith(out.shape)) {
      return Internal("the kernel of ", stream.device().name(), " gave output ", i, " of shape ",
                      outputs[i].shape().ToString(), "; expected ", out.shape.ToString());
    }
    Bring(plan, run.state, out.buffer, std::move(outputs[i]));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status RunDeviceStep(const Plan& plan, const Step& step, const DynamicStep& dynamic,
                           RunTensors& run) {
  TENON_ASSIGN_OR_RETURN(DeviceStream * stream, StreamOf(*dynamic.device, run.state));
  if (dynamic.kind == DynamicKind::kToDevice) return RunToDevice(plan, dynamic, *stream, run);
  if (dynamic.kind == DynamicKind::kToHost) return RunToHost(plan, dynamic, *stream, run);
  return RunKernelThere(plan, step, dynamic, *stream, run);
}

}  // namespace tenon
