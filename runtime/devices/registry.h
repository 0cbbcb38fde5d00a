// The process's plug-ins: their devices, and the kernels that they registered.
//
//   TENON_RETURN_IF_ERROR(DeviceRegistry::Global().Load("libapu.so"));
//   TENON_ASSIGN_OR_RETURN(const Device* device, DeviceRegistry::Global().Find("APU:0"));
#ifndef TENON_RUNTIME_DEVICES_REGISTRY_H_
#define TENON_RUNTIME_DEVICES_REGISTRY_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/status/statusor.h"
#include "env/mutex.h"
#include "graph/graph.h"
#include "runtime/devices/device.h"

namespace tenon {

// Loading twice is loading once. What was loaded stays.
class DeviceRegistry {
 public:
  static DeviceRegistry& Global();

  // A plug-in's file, or a folder of them. Errors name the file.
  absl::Status Load(const std::string& path) ABSL_LOCKS_EXCLUDED(mutex_);
  // Every path of a list that is separated by ':'.
  absl::Status LoadAll(const std::string& paths);

  std::vector<const Device*> devices() const ABSL_LOCKS_EXCLUDED(mutex_);
  // By name, "APU:0" or "APU", in any case. InvalidArgument lists the devices that there are; null
  // stands for the CPU, which "CPU" and "CPU:0" name.
  absl::StatusOr<const Device*> Find(absl::string_view name) const;
  // The device that a node of a model asks for ("/device:APU:0"); null: none that is loaded.
  const Device* Requested(const Node& node) const;

  // The kernel for a node (attributes complete) on a device, or null; `why` says why there is none.
  const TF_KernelBuilder* FindKernel(const Device& device, const Node& node,
                                     std::string* why = nullptr) const ABSL_LOCKS_EXCLUDED(mutex_);
  // How many kernels there are for a type of device.
  int CountKernels(const std::string& type) const ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  class Registrar;
  absl::Status LoadFile(const std::string& file) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  absl::btree_set<std::string> loaded_ ABSL_GUARDED_BY(mutex_);  // real paths
  std::vector<std::unique_ptr<Device>> devices_ ABSL_GUARDED_BY(mutex_);
  // By op.
  absl::btree_map<std::string, std::vector<std::unique_ptr<TF_KernelBuilder>>> kernels_
      ABSL_GUARDED_BY(mutex_);
};

}  // namespace tenon

#endif  // TENON_RUNTIME_DEVICES_REGISTRY_H_
