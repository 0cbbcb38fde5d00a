#include "runtime/execution/device_stream.h"

#include <memory>
#include <utility>

#include "env/status.h"

namespace tenon {

absl::StatusOr<DeviceStream*> StreamOf(const Device& device, ExecState& state) {
  for (const auto& stream : state.streams) {
    if (&stream->device() == &device) return stream.get();
  }
  TENON_ASSIGN_OR_RETURN(std::shared_ptr<DeviceStream> stream, device.NewStream());
  state.streams.push_back(std::move(stream));
  return state.streams.back().get();
}

}  // namespace tenon
