// The stream of a run on a device.
#ifndef TENON_RUNTIME_EXECUTION_DEVICE_STREAM_H_
#define TENON_RUNTIME_EXECUTION_DEVICE_STREAM_H_

#include "absl/status/statusor.h"
#include "runtime/devices/device.h"
#include "runtime/memory/state_pool.h"

namespace tenon {

// Made when a state first needs it; the state keeps it.
absl::StatusOr<DeviceStream*> StreamOf(const Device& device, ExecState& state);

}  // namespace tenon

#endif  // TENON_RUNTIME_EXECUTION_DEVICE_STREAM_H_
