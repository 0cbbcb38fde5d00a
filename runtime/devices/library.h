// Loads the shared libraries of plug-ins, and the one with the C functions that they call.
#ifndef TENON_RUNTIME_DEVICES_LIBRARY_H_
#define TENON_RUNTIME_DEVICES_LIBRARY_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/devices/objects.h"

namespace tenon {

// libtenon_device_abi.so, opened with global symbols on first use; it stays loaded.
struct PluginAbi {
  decltype(&tenon_device_abi_register_to) register_to = nullptr;

  // FailedPrecondition if the process has these functions from elsewhere (TensorFlow).
  static absl::StatusOr<PluginAbi> Get();
};

// A plug-in's shared library. It stays loaded, as in TensorFlow.
struct PluginLibrary {
  std::string path;
  decltype(&SE_InitPlugin) init_plugin = nullptr;
  decltype(&TF_InitKernel) init_kernel = nullptr;  // null: it has no kernels

  // NotFound: no such file. InvalidArgument: it cannot be loaded, or is not a device plug-in.
  static absl::StatusOr<PluginLibrary> Open(const std::string& path);
};

// The files that `path` names: itself, or the shared libraries in a folder, sorted.
absl::StatusOr<std::vector<std::string>> PluginFiles(const std::string& path);

}  // namespace tenon

#endif  // TENON_RUNTIME_DEVICES_LIBRARY_H_
