// The process's registry of plug-ins: their devices, and the kernels that they registered.
//
//   TENON_RETURN_IF_ERROR(DeviceRegistry::Global().Load("libapu.so"));
//   TENON_ASSIGN_OR_RETURN(const Device* device, DeviceRegistry::Global().Find("APU:0"));
#ifndef TENON_RUNTIME_DEVICES_REGISTRY_H_
#define TENON_RUNTIME_DEVICES_REGISTRY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "env/containers.h"
#include "env/mutex.h"
#include "graph/graph.h"
#include "runtime/devices/device.h"

namespace tenon {

// Loading a plug-in again has no effect. Plug-ins are never unloaded.
class DeviceRegistry {
 public:
  static DeviceRegistry& Global();

  // Loads a plug-in's file, or all in a folder. Errors name the file.
  absl::Status Load(const std::string& path) ABSL_LOCKS_EXCLUDED(mutex_);
  // Loads every path in a list separated by ':'.
  absl::Status LoadAll(const std::string& paths);

  std::vector<const Device*> devices() const ABSL_LOCKS_EXCLUDED(mutex_);
  // By name, "APU:0" or "APU", ignoring case. InvalidArgument lists the existing devices. Null
  // stands for the CPU, which "CPU" and "CPU:0" name.
  absl::StatusOr<const Device*> Find(absl::string_view name) const;
  // The device that a node of a model requests ("/device:APU:0"); null if it is not loaded.
  const Device* Requested(const Node& node) const;

  // The kernel for a node (with complete attributes) on a device; if null, `why` says why.
  const TF_KernelBuilder* FindKernel(const Device& device, const Node& node,
                                     std::string* why = nullptr) const ABSL_LOCKS_EXCLUDED(mutex_);
  // The number of kernels for a device type.
  int CountKernels(const std::string& type) const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  class Registrar;
  absl::Status LoadFile(const std::string& file) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  OrderedSet<std::string> loaded_ ABSL_GUARDED_BY(mutex_);  // real paths
  std::vector<std::unique_ptr<Device>> devices_ ABSL_GUARDED_BY(mutex_);
  // By op.
  OrderedMap<std::string, std::vector<std::unique_ptr<TF_KernelBuilder>>> kernels_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon

#endif  // TENON_RUNTIME_DEVICES_REGISTRY_H_
