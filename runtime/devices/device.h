// A plug-in's device, with its memory and streams. Devices live as long as the process.
//
// A tensor on a device is a Tensor whose raw() is not an address but a DeviceMemory*; only the
// functions here use it.
#ifndef TENON_RUNTIME_DEVICES_DEVICE_H_
#define TENON_RUNTIME_DEVICES_DEVICE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor.h"
#include "runtime/devices/objects.h"

namespace tenon {

absl::Status FromPlugin(const TSL_Status& status);

// Information for `tenon devices`.
struct DeviceInfo {
  std::string name;      // "APU:0"
  std::string type;      // "APU"
  std::string platform;  // the plug-in's name for it
  std::string hardware;
  std::string vendor;
  std::string source;  // the plug-in's file
  int ordinal = 0;
  int64_t free_bytes = -1;  // -1: not known
  int64_t total_bytes = -1;
};

class Device;

// A stream: runs work in order, and reuses memory in that order. For one thread at a time.
class DeviceStream : public std::enable_shared_from_this<DeviceStream> {
 public:
  DeviceStream(const Device& device, SP_Stream handle) : device_(device), handle_(handle) {}
  ~DeviceStream();
  DeviceStream(const DeviceStream&) = delete;
  DeviceStream& operator=(const DeviceStream&) = delete;

  const Device& device() const { return device_; }
  SP_Stream handle() const { return handle_; }

  // Uninitialized; ResourceExhausted if the device has no more memory.
  absl::StatusOr<Tensor> Allocate(DType dtype, const Shape& shape);
  // Copies; the host memory has been read or written when they return.
  absl::StatusOr<Tensor> ToDevice(const Tensor& host);
  absl::Status ToHost(const Tensor& on_device, void* host);
  // Records that work was enqueued: memory is kept until it is done.
  void MarkBusy() { busy_ = true; }
  // Waits for all work, and returns kept memory to the device. After an error, work may still be
  // under way if the device cannot wait for all that it does either; memory is kept then.
  absl::Status Synchronize();
  // Whether waiting has failed once: the stream is good for nothing more.
  bool failed() const { return failed_; }

 private:
  friend struct DeviceMemory;
  void Retire(const SP_DeviceMemoryBase& block);
  absl::Status Wait() const;
  bool WaitForDevice() const;
  void Deallocate();

  const Device& device_;
  const SP_Stream handle_;
  bool busy_ = false;
  bool failed_ = false;
  std::vector<SP_DeviceMemoryBase> retired_;  // of freed tensors; enqueued work may still use it
};

struct DeviceMemory : std::enable_shared_from_this<DeviceMemory> {
  ~DeviceMemory();
  std::shared_ptr<DeviceStream> stream;
  SP_DeviceMemoryBase block = {};
};

// The raw() of a tensor on a device.
inline DeviceMemory* MemoryOf(const Tensor& on_device) {
  return static_cast<DeviceMemory*>(const_cast<void*>(on_device.raw()));
}

class Device {
 public:
  // `platform` and `functions` must outlive the device. Errors say which function failed or is
  // missing.
  static absl::StatusOr<std::unique_ptr<Device>> Create(const SP_Platform& platform,
                                                        const SP_PlatformFns& functions,
                                                        int ordinal, const std::string& source);

  // Tells the plug-in that its device is gone.
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  DeviceInfo Describe() const;
  const std::string& name() const { return info_.name; }
  const std::string& type() const { return info_.type; }
  int ordinal() const { return info_.ordinal; }
  absl::StatusOr<std::shared_ptr<DeviceStream>> NewStream() const;

 private:
  friend class DeviceStream;
  Device(const SP_Platform& platform, const SP_PlatformFns& functions)
      : platform_(platform), functions_(functions) {}
  absl::Status CheckFunctions() const;

  const SP_Platform& platform_;
  const SP_PlatformFns& functions_;
  bool has_device_ = false, has_executor_ = false;  // whether the plug-in has filled them
  DeviceInfo info_;
  SP_Device device_ = {};
  SP_StreamExecutor executor_ = {};
};

}  // namespace tenon

#endif  // TENON_RUNTIME_DEVICES_DEVICE_H_
