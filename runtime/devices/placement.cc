#include "runtime/devices/placement.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "env/status.h"
#include "graph/rewriter.h"
#include "ops/control/on_device.h"
#include "ops/op.h"
#include "runtime/devices/registry.h"

namespace tenon {
namespace {

bool CanBeThere(absl::Span<const DType> dtypes) {
  return std::all_of(dtypes.begin(), dtypes.end(),
                     [](DType d) { return SizeOf(d) > 0 && d != DType::kString; });
}

// The possible placement of `node`: its device, and the dtypes of inputs and outputs.
struct Place {
  const Device* device = nullptr;
  std::vector<DType> inputs, outputs;
};

absl::StatusOr<Place> Find(const Node& node, const Device* preferred) {
  const DeviceRegistry& plugins = DeviceRegistry::Global();
  const Device* device = plugins.Requested(node);
  if (device == nullptr) device = preferred;
  if (device == nullptr) return Place();
  const OpLookup op = FindOp(node.op);
  if (!op || op.native || op.info->row.stateful || op.info->row.internal) return Place();
  Node complete = node;
  if (!CompleteAttrs(*op.info, complete).ok()) return Place();  // import will report it
  if (plugins.FindKernel(*device, complete) == nullptr) return Place();
  Place place{device, {}, {}};
  TENON_ASSIGN_OR_RETURN(place.inputs, InputDTypes(*op.info, complete));
  TENON_ASSIGN_OR_RETURN(place.outputs, OutputDTypes(*op.info, complete));
  if (!CanBeThere(place.inputs) || !CanBeThere(place.outputs)) return Place();
  return place;
}

}  // namespace

absl::StatusOr<int> PlaceOnDevices(Graph& graph, const Device* device) {
  int placed = 0;
  Rewriter rewriter(graph);
  for (NodeId id : graph.NodeIds()) {
    TENON_ASSIGN_OR_RETURN(Place place, Find(graph.node(id), device));
    if (place.device == nullptr) continue;
    rewriter.SetAttr(id, kOnDeviceOp, graph.node(id).op);
    rewriter.SetAttr(id, kOnDeviceDevice, place.device->name());
    rewriter.SetAttr(id, kOnDeviceIn, std::move(place.inputs));
    rewriter.SetAttr(id, kOnDeviceOut, std::move(place.outputs));
    rewriter.SetOp(id, kOnDevice);
    ++placed;
  }
  for (const auto& [name, body] : graph.functions()) {
    auto changed = std::make_shared<Graph>(*body);
    TENON_ASSIGN_OR_RETURN(const int inner, PlaceOnDevices(*changed, device));
    if (inner > 0) graph.SetFunction(name, std::move(changed));
    placed += inner;
  }
  return placed;
}

}  // namespace tenon
