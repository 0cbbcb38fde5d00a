#include "runtime/plan/plan.h"

#include "ops/control/on_device.h"
#include "runtime/devices/device.h"
#include "runtime/devices/kernel.h"

namespace tenon {
namespace {

void DescribeDevice(const DynamicStep& step, const Node& node, StepInfo& info) {
  if (step.device == nullptr) return;
  info.device = step.device->name();
  info.implementation = info.device;
  if (step.kind == DynamicKind::kDevice) info.op = OriginalNode(node).op;
  if (step.kind == DynamicKind::kToDevice) info.op = "CopyToDevice";
  if (step.kind == DynamicKind::kToHost) info.op = "CopyToHost";
}

}  // namespace

size_t Plan::HeldBytes() const {
  if (split != nullptr) return split->part->HeldBytes();
  const auto table = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
  const size_t state = sizeof(ExecState) + pointers.size() * sizeof(void*) +
                       (strings.size() + static_cast<size_t>(num_dynamic)) * sizeof(Tensor);
  size_t bytes = sizeof(Plan) + table(steps) + table(dynamic_steps) + table(buffers) +
                 table(pointers) + table(constants) + table(kernels) + table(held_pointers) +
                 state * states->size();
  for (const DynamicStep& step : dynamic_steps) bytes += table(step.inputs) + table(step.outputs);
  for (const std::shared_ptr<const Tensor>& value : values)
    bytes += sizeof(Tensor) + value->bytes();
  return bytes;
}

std::vector<StepInfo> Plan::Describe() const {
  std::vector<StepInfo> infos;
  if (split != nullptr) {
    infos = split->part->Describe();
    for (StepInfo& info : infos) info.flops *= static_cast<double>(split->parts);
    return infos;
  }
  for (size_t i = 0; i < steps.size(); ++i) {
    const Node& node = model->graph().node(steps[i].node);
    StepInfo info{node.name, node.op, "", 0, false, steps[i].kernel == nullptr, ""};
    if (steps[i].dynamic >= 0)
      DescribeDevice(dynamic_steps[static_cast<size_t>(steps[i].dynamic)], node, info);
    if (kernels[i] != nullptr) {
      info.implementation = kernels[i]->kernel->Implementation();
      info.flops = kernels[i]->kernel->Flops();
      info.accelerated = kernels[i]->accelerated;
    }
    infos.push_back(std::move(info));
  }
  return infos;
}

}  // namespace tenon
