// Placement: decides which nodes run on a plug-in's device, namely those that it has a kernel for.
// They become `_OnDevice` nodes (ops/control/on_device.h) before any rewriting, so that no rule
// fuses them into others.
#ifndef TENON_RUNTIME_DEVICES_PLACEMENT_H_
#define TENON_RUNTIME_DEVICES_PLACEMENT_H_

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "runtime/devices/device.h"

namespace tenon {

// A node that names a loaded device is placed there, others on `device` (null: the CPU). Includes
// bodies of control flow. Returns the number of placed nodes.
absl::StatusOr<int> PlaceOnDevices(Graph& graph, const Device* device);

}  // namespace tenon

#endif  // TENON_RUNTIME_DEVICES_PLACEMENT_H_
