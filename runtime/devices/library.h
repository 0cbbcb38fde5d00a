// Shared objects of plug-ins, and the one with the C functions that they call.
#ifndef TENON_RUNTIME_DEVICES_LIBRARY_H_
#define TENON_RUNTIME_DEVICES_LIBRARY_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/devices/objects.h"

namespace tenon {

// libtenon_device_abi.so, opened with global symbols the first time; it stays.
struct PluginAbi {
  decltype(&tenon_device_abi_register_to) register_to = nullptr;

  // FailedPrecondition where the process has these functions from elsewhere (TensorFlow).
  static absl::StatusOr<PluginAbi> Get();
};

// A plug-in's shared object. It stays in the process, as in TensorFlow.
struct PluginLibrary {
  std::string path;
  decltype(&SE_InitPlugin) init_plugin = nullptr;
  decltype(&TF_InitKernel) init_kernel = nullptr;  // null: it has no kernels

  // NotFound: no such file. InvalidArgument: it cannot be loaded, or is no device plug-in.
  static absl::StatusOr<PluginLibrary> Open(const std::string& path);
};

// The files that `path` names: itself, or the shared objects in a folder, sorted.
absl::StatusOr<std::vector<std::string>> PluginFiles(const std::string& path);

}  // namespace tenon

#endif  // TENON_RUNTIME_DEVICES_LIBRARY_H_
