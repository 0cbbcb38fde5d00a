#include "tf_plugin/other_plugins.h"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <filesystem>
#include <optional>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tf_plugin/c_api.h"

namespace tenon::plugin {
namespace {

namespace fs = std::filesystem;

constexpr char kNoDevice[] = "TENON_OUT_";

// The folder where TensorFlow looks for plug-ins: next to the Python package that contains this
// library.
fs::path PluginFolder() {
  Dl_info self;
  if (dladdr(reinterpret_cast<void*>(&OtherPlugins), &self) == 0) return {};
  return fs::path(self.dli_fname).parent_path().parent_path() / "tensorflow-plugins";
}

std::set<std::string> FilesInFolder() {
  std::set<std::string> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(PluginFolder(), error)) {
    const std::string name = entry.path().filename();
    if (name != "libtenon_plugin.so" && absl::StrContains(name, ".so")) files.insert(entry.path());
  }
  return files;
}

std::set<std::string> LoadedFiles() {
  std::set<std::string> files;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        if (info->dlpi_name != nullptr && info->dlpi_name[0] != '\0') {
          static_cast<std::set<std::string>*>(out)->insert(info->dlpi_name);
        }
        return 0;
      },
      &files);
  return files;
}

// The function in that file itself, not in a library that it needs; null if it has none.
decltype(&TF_InitGraph) InitGraphOf(const std::string& file) {
  // TensorFlow has opened it or is about to: it stays loaded either way.
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  void* symbol = dlsym(library, "TF_InitGraph");
  Dl_info found;
  if (symbol == nullptr || dladdr(symbol, &found) == 0) return nullptr;
  std::error_code error;
  if (!fs::equivalent(file, found.dli_fname, error)) return nullptr;
  return reinterpret_cast<decltype(&TF_InitGraph)>(symbol);
}

// The plug-in's answer to TensorFlow; none if it takes no graphs.
std::optional<OtherPlugin> Ask(const std::string& file) {
  const auto init = InitGraphOf(file);
  if (init == nullptr) return std::nullopt;
  OtherPlugin plugin = {.file = file, .device_type = "", .configs = {}};
  TP_OptimizerRegistrationParams params = {};
  TP_Optimizer optimizer = {};
  params.struct_size = TP_OPTIMIZER_REGISTRATION_PARAMS_STRUCT_SIZE;
  params.major_version = GO_MAJOR;
  params.minor_version = GO_MINOR;
  params.patch_version = GO_PATCH;
  plugin.configs.struct_size = TP_OPTIMIZER_CONFIGS_STRUCT_SIZE;
  optimizer.struct_size = TP_OPTIMIZER_STRUCT_SIZE;
  params.optimizer_configs = &plugin.configs;
  params.optimizer = &optimizer;
  const StatusPtr status(TF_NewStatus());
  init(&params, status.get());
  if (TF_GetCode(status.get()) != TF_OK || params.device_type == nullptr) return std::nullopt;
  plugin.device_type = params.device_type;
  if (absl::StartsWith(plugin.device_type, kNoDevice)) return std::nullopt;
  return plugin;
}

}  // namespace

std::vector<OtherPlugin> OtherPlugins() {
  std::set<std::string> files = LoadedFiles();
  files.merge(FilesInFolder());
  std::vector<OtherPlugin> plugins;
  for (const std::string& file : files) {
    if (std::optional<OtherPlugin> plugin = Ask(file)) plugins.push_back(*std::move(plugin));
  }
  return plugins;
}

const char* NoDevice() {
  static std::atomic<int> calls = 0;
  // Each copy of this library has a counter of its own, at another address.
  auto* name =
      new std::string(absl::StrCat(kNoDevice, reinterpret_cast<uintptr_t>(&calls), "_", calls++));
  return name->c_str();
}

}  // namespace tenon::plugin
