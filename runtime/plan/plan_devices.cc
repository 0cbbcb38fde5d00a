#include "runtime/plan/plan_devices.h"

#include "env/status.h"
#include "ops/control/on_device.h"
#include "ops/op.h"
#include "runtime/devices/registry.h"
#include "runtime/execution/device_copy_step.h"

namespace tenon {

absl::StatusOr<std::shared_ptr<const DeviceKernel>> PlanDevices::KernelOf(const Node& node) {
  const DeviceRegistry& plugins = DeviceRegistry::Global();
  const std::string* name = node.attr<std::string>(kOnDeviceDevice);
  if (name == nullptr) return InvalidArgument("says no device");
  TENON_ASSIGN_OR_RETURN(const Device* device, plugins.Find(*name));
  if (device == nullptr) return InvalidArgument("says no device of a plug-in");
  Node original = OriginalNode(node);
  const OpLookup op = FindOp(original.op);
  if (!op) return Unimplemented("op '", original.op, "' is not implemented");
  TENON_RETURN_IF_ERROR(CompleteAttrs(*op.info, original));
  std::string why;
  const TF_KernelBuilder* builder = plugins.FindKernel(*device, original, &why);
  if (builder == nullptr) return Unimplemented(why, " for ", original.op);
  absl::StatusOr<std::shared_ptr<const DeviceKernel>> kernel =
      DeviceKernel::Create(*device, *builder, *op.info, original);
  if (!kernel.ok()) return Annotate(kernel.status(), absl::StrCat("kernel of ", device->name()));
  return kernel;
}

absl::StatusOr<int> PlanDevices::AddBrought(const TensorSpec& spec, int step) {
  if (spec.shape.IsComplete()) return memory_.AddHeld(spec, step);
  return memory_.AddComputed(spec, step);
}

void AppendStep(FlatPlan& plan, NodeId node, std::unique_ptr<Step> step) {
  FlatStep flat;
  flat.node = node;
  flat.step = step.get();
  plan.dynamic_steps.push_back(std::move(step));
  plan.steps.push_back(flat);
  plan.prepared.push_back(nullptr);
}

template <typename T>
void PlanDevices::AddCopy(const Device& device, int from, int to, const TensorSpec& spec,
                          NodeId reader) {
  memory_.Read(from, now());
  StepArgs args{{{from, spec.dtype, spec.shape}}, {{to, spec.dtype, spec.shape}}};
  AppendStep(plan_, reader, std::make_unique<T>(std::move(args), device));
}

absl::StatusOr<int> PlanDevices::OnDevice(const Device& device, int buffer, const TensorSpec& spec,
                                          NodeId reader) {
  const auto [it, fresh] = on_device_.try_emplace({buffer, &device}, -1);
  if (!fresh) return it->second;
  TENON_ASSIGN_OR_RETURN(it->second, AddBrought(spec, now()));
  AddCopy<CopyToDeviceStep>(device, buffer, it->second, spec, reader);
  on_host_[it->second] = buffer;
  ++plan_.counts.copies_to_device;
  return it->second;
}

absl::StatusOr<int> PlanDevices::OnHost(const Device& device, int buffer, const TensorSpec& spec,
                                        NodeId reader) {
  const auto [it, fresh] = on_host_.try_emplace(buffer, -1);
  if (!fresh) return it->second;
  TENON_ASSIGN_OR_RETURN(it->second, memory_.AddComputed(spec, now()));
  AddCopy<CopyToHostStep>(device, buffer, it->second, spec, reader);
  on_device_[{it->second, &device}] = buffer;
  ++plan_.counts.copies_to_host;
  return it->second;
}

absl::StatusOr<int> PlanDevices::WeightOnDevice(const Device& device, const void* key,
                                                const Tensor& value) {
  const auto [it, fresh] = weights_.try_emplace({key, &device}, -1);
  if (!fresh) return it->second;
  std::shared_ptr<DeviceStream>& stream = streams_[&device];
  if (stream == nullptr) {
    TENON_ASSIGN_OR_RETURN(stream, device.NewStream());
  }
  TENON_ASSIGN_OR_RETURN(Tensor copy, stream->ToDevice(value));
  it->second = memory_.AddConstant(plan_, std::move(copy));
  return it->second;
}

}  // namespace tenon
