#include "runtime/execution/flat_plan.h"

#include <algorithm>

#include "kernels/lists/tensor_list.h"

namespace tenon {

Shape FeedShape(const Tensor& feed) {
  return HoldsObjects(feed.dtype()) ? CommonItemShape(feed) : feed.shape();
}

size_t FlatPlan::HeldBytes() const {
  const auto table = [](const auto& v) { return v.capacity() * sizeof(v[0]); };
  const size_t state = sizeof(ExecState) + pointers.size() * sizeof(void*) +
                       (strings.size() + static_cast<size_t>(num_dynamic)) * sizeof(Tensor);
  size_t bytes = sizeof(FlatPlan) + table(steps) + table(dynamic_steps) + table(buffers) +
                 table(pointers) + table(constants) + table(prepared) + table(held_pointers) +
                 table(takes) + table(feeds) + table(moved_bytes) + table(arena_items) +
                 state * std::max<size_t>(states->size(), 1);
  for (const std::unique_ptr<Step>& step : dynamic_steps) bytes += step->HeldBytes();
  for (const std::shared_ptr<const Tensor>& value : values)
    bytes += sizeof(Tensor) + value->bytes();
  return bytes;
}

std::vector<StepInfo> FlatPlan::Describe() const {
  std::vector<StepInfo> infos;
  for (size_t i = 0; i < steps.size(); ++i) {
    const Node& node = graph->node(steps[i].node);
    StepInfo info;
    info.node = node.name;
    info.op = node.op;
    info.dynamic = steps[i].kernel == nullptr;
    info.bytes = i < moved_bytes.size() ? moved_bytes[i] : 0;
    if (steps[i].step != nullptr) steps[i].step->Describe(info);
    if (prepared[i] != nullptr) {
      info.implementation = prepared[i]->kernel->Implementation();
      info.flops = prepared[i]->kernel->Flops();
      info.accelerated = prepared[i]->accelerated;
    }
    infos.push_back(std::move(info));
  }
  return infos;
}

}  // namespace tenon
