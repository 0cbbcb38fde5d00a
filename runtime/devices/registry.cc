#include "runtime/devices/registry.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "env/status.h"
#include "runtime/devices/library.h"

namespace tenon {
namespace {

// A plug-in's description of itself; the plug-in's devices keep pointers into it.
struct Platform {
  SP_Platform platform = {};
  SP_PlatformFns functions = {};
};

absl::Status CheckSize(const char* what, size_t size, size_t needed) {
  if (size >= needed) return absl::OkStatus();
  return InvalidArgument(what, " has struct_size ", size, "; at least ", needed, " is needed");
}

absl::Status CheckPlatform(const SE_PlatformRegistrationParams& params) {
  if (params.major_version != SE_MAJOR) {
    return InvalidArgument("it implements version ", params.major_version, ".",
                           params.minor_version, ".", params.patch_version,
                           " of the device interface, Tenon ", SE_MAJOR, ".", SE_MINOR, ".",
                           SE_PATCH);
  }
  TENON_RETURN_IF_ERROR(CheckSize("SE_PlatformRegistrationParams", params.struct_size,
                                  TF_OFFSET_OF_END(SE_PlatformRegistrationParams, platform_fns)));
  TENON_RETURN_IF_ERROR(
      CheckSize("SP_Platform", params.platform->struct_size, TF_OFFSET_OF_END(SP_Platform, type)));
  TENON_RETURN_IF_ERROR(CheckSize("SP_PlatformFns", params.platform_fns->struct_size,
                                  TF_OFFSET_OF_END(SP_PlatformFns, create_stream_executor)));
  const SP_Platform& platform = *params.platform;
  if (platform.name == nullptr || platform.type == nullptr || *platform.type == '\0') {
    return InvalidArgument("its platform has no name or no type");
  }
  const SP_PlatformFns& f = *params.platform_fns;
  if (f.get_device_count == nullptr || f.create_device == nullptr ||
      f.create_stream_executor == nullptr) {
    return InvalidArgument(
        "SP_PlatformFns needs get_device_count, create_device and create_stream_executor");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::unique_ptr<Device>>> InitPlatform(const PluginLibrary& library) {
  auto owned = std::make_unique<Platform>();
  owned->platform.struct_size = SP_PLATFORM_STRUCT_SIZE;
  owned->functions.struct_size = SP_PLATFORM_FNS_STRUCT_SIZE;
  SE_PlatformRegistrationParams params = {};
  params.struct_size = SE_PLATFORM_REGISTRATION_PARAMS_STRUCT_SIZE;
  params.major_version = SE_MAJOR;
  params.minor_version = SE_MINOR;
  params.patch_version = SE_PATCH;
  params.platform = &owned->platform;
  params.platform_fns = &owned->functions;
  TSL_Status status;
  library.init_plugin(&params, &status);
  if (status.code != TF_OK) return Annotate(FromPlugin(status), "SE_InitPlugin");
  TENON_RETURN_IF_ERROR(CheckPlatform(params));
  int count = 0;
  owned->functions.get_device_count(&owned->platform, &count, &status);
  if (status.code != TF_OK) return Annotate(FromPlugin(status), "get_device_count");
  // Lives as long as the process, like the plug-in. The registry's mutex must be held.
  static auto* const platforms = new std::vector<std::unique_ptr<Platform>>;
  const Platform& kept = *platforms->emplace_back(std::move(owned));
  std::vector<std::unique_ptr<Device>> devices;
  for (int i = 0; i < count; ++i) {
    TENON_ASSIGN_OR_RETURN(std::unique_ptr<Device> device,
                           Device::Create(kept.platform, kept.functions, i, library.path));
    devices.push_back(std::move(device));
  }
  return devices;
}

bool Allows(const std::vector<TF_DataType>& types, DType dtype) {
  const auto same = [&](TF_DataType t) { return static_cast<int>(t) == static_cast<int>(dtype); };
  return std::any_of(types.begin(), types.end(), same);
}

bool TypesMatch(const TF_KernelBuilder& kernel, const Node& node) {
  for (const auto& [attr, types] : kernel.types) {
    if (const DType* dtype = node.attr<DType>(attr)) {
      if (!Allows(types, *dtype)) return false;
      continue;
    }
    const auto* list = node.attr<std::vector<DType>>(attr);
    const auto& allowed = types;
    if (list == nullptr ||
        !std::all_of(list->begin(), list->end(), [&](DType d) { return Allows(allowed, d); })) {
      return false;
    }
  }
  return true;
}

}  // namespace

class DeviceRegistry::Registrar final : public KernelRegistrar {
 public:
  void Register(std::unique_ptr<TF_KernelBuilder> kernel) override {
    kernels.push_back(std::move(kernel));
  }
  std::vector<std::unique_ptr<TF_KernelBuilder>> kernels;
};

DeviceRegistry& DeviceRegistry::Global() {
  static auto* registry = new DeviceRegistry;
  return *registry;
}

absl::Status DeviceRegistry::Load(const std::string& path) {
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string> files, PluginFiles(path));
  MutexLock lock(&mutex_);
  for (const std::string& file : files) TENON_RETURN_IF_ERROR(LoadFile(file));
  return absl::OkStatus();
}

absl::Status DeviceRegistry::LoadAll(const std::string& paths) {
  for (absl::string_view path : absl::StrSplit(paths, ':', absl::SkipEmpty())) {
    TENON_RETURN_IF_ERROR(Load(std::string(path)));
  }
  return absl::OkStatus();
}

absl::Status DeviceRegistry::LoadFile(const std::string& file) {
  std::error_code error;
  const std::string real = std::filesystem::weakly_canonical(file, error).string();
  if (loaded_.contains(real)) return absl::OkStatus();
  const std::string where = absl::StrCat("plug-in '", file, "'");
  TENON_ASSIGN_OR_RETURN(const PluginLibrary library, PluginLibrary::Open(file));
  TENON_ASSIGN_OR_RETURN(const PluginAbi abi, PluginAbi::Get());
  absl::StatusOr<std::vector<std::unique_ptr<Device>>> made = InitPlatform(library);
  if (!made.ok()) return Annotate(made.status(), where);
  for (const auto& device : *made) {
    const auto same = [&](const auto& other) { return other->name() == device->name(); };
    const auto taken = std::find_if(devices_.begin(), devices_.end(), same);
    if (taken != devices_.end()) {
      return Annotate(InvalidArgument("device ", device->name(), " is already there, from '",
                                      (*taken)->Describe().source, "'"),
                      where);
    }
  }
  Registrar registrar;
  if (library.init_kernel != nullptr) {
    abi.register_to(&registrar);
    library.init_kernel();
    abi.register_to(nullptr);
  }
  for (auto& kernel : registrar.kernels) {
    if (kernel->compute == nullptr && kernel->compute_async == nullptr) {
      return Annotate(InvalidArgument("its kernel for ", kernel->op, " has no compute function"),
                      where);
    }
  }
  for (auto& kernel : registrar.kernels) kernels_[kernel->op].push_back(std::move(kernel));
  for (auto& device : *made) devices_.push_back(std::move(device));
  loaded_.insert(real);
  return absl::OkStatus();
}

std::vector<const Device*> DeviceRegistry::devices() const {
  MutexLock lock(&mutex_);
  std::vector<const Device*> devices;
  for (const auto& device : devices_) devices.push_back(device.get());
  return devices;
}

absl::StatusOr<const Device*> DeviceRegistry::Find(absl::string_view name) const {
  std::string wanted = absl::AsciiStrToUpper(name);
  if (!absl::StrContains(wanted, ':')) wanted += ":0";
  if (wanted == "CPU:0") return nullptr;
  std::vector<std::string> names = {"CPU:0"};
  for (const Device* device : devices()) {
    if (device->name() == wanted) return device;
    names.push_back(device->name());
  }
  return InvalidArgument("there is no device '", name, "'; devices are ",
                         absl::StrJoin(names, ", "));
}

const Device* DeviceRegistry::Requested(const Node& node) const {
  if (node.device.empty()) return nullptr;
  const std::vector<std::string> parts = absl::StrSplit(node.device, "/device:");
  const std::string name = parts.size() < 2 ? absl::StrCat(absl::StripPrefix(node.device, "/"))
                                            : absl::StrCat(parts.back());
  const absl::StatusOr<const Device*> device = Find(name);
  return device.ok() ? *device : nullptr;
}

const TF_KernelBuilder* DeviceRegistry::FindKernel(const Device& device, const Node& node,
                                                   std::string* why) const {
  MutexLock lock(&mutex_);
  const TF_KernelBuilder* best = nullptr;
  bool any = false;
  if (const auto it = kernels_.find(node.op); it != kernels_.end()) {
    for (const auto& kernel : it->second) {
      if (kernel->device != device.type() || !kernel->label.empty()) continue;
      any = true;
      if (!TypesMatch(*kernel, node)) continue;
      if (best == nullptr || kernel->priority > best->priority) best = kernel.get();
    }
  }
  if (best == nullptr && why != nullptr) {
    *why = absl::StrCat(device.name(), any ? " has no kernel for these dtypes" : " has no kernel");
  }
  return best;
}

int DeviceRegistry::CountKernels(const std::string& type) const {
  MutexLock lock(&mutex_);
  int count = 0;
  for (const auto& [op, kernels] : kernels_) {
    for (const auto& kernel : kernels) count += kernel->device == type;
  }
  return count;
}

}  // namespace tenon
