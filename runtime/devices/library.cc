#include "runtime/devices/library.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "env/status.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;

constexpr char kAbiLibrary[] = "libtenon_device_abi.so";

template <typename F>
F Symbol(void* library, const char* name) {
  return reinterpret_cast<F>(dlsym(library, name));
}

// The text of dlerror without the file name at the start.
std::string LastError(const std::string& path) {
  const char* error = dlerror();
  std::string text = error == nullptr ? "unknown error" : error;
  if (absl::StartsWith(text, path + ": ")) text = text.substr(path.size() + 2);
  return text;
}

// Next to the library or program that contains this code, and where an installation puts it.
std::vector<fs::path> AbiPlaces() {
  std::vector<fs::path> folders;
  Dl_info self;
  if (dladdr(reinterpret_cast<void*>(&AbiPlaces), &self) != 0) {
    folders.push_back(fs::path(self.dli_fname).parent_path());
  }
  std::error_code error;
  folders.push_back(fs::read_symlink("/proc/self/exe", error).parent_path());
  std::vector<fs::path> places;
  for (const fs::path& folder : folders) {
    places.push_back(folder / kAbiLibrary);
    for (const char* installed : {"../lib", "../" TENON_LIBDIR, "."}) {
      places.push_back(folder / installed / "tenon" / kAbiLibrary);
      places.push_back(folder / installed / kAbiLibrary);
    }
  }
  return places;
}

std::string WhereIs(void* address) {
  Dl_info info;
  return dladdr(address, &info) == 0 ? "this process" : info.dli_fname;
}

absl::StatusOr<PluginAbi> OpenAbi() {
  std::string file = kAbiLibrary;
  std::error_code error;
  for (const fs::path& place : AbiPlaces()) {
    if (!fs::exists(place, error)) continue;
    file = place.string();
    break;
  }
  // Plug-ins find the functions in the global scope, after those of all libraries that are already
  // loaded.
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("plug-ins need ", kAbiLibrary, ": ", LastError(file)));
  }
  void* const ours = dlsym(library, "TF_NewKernelBuilder");
  void* const seen = dlsym(RTLD_DEFAULT, "TF_NewKernelBuilder");
  if (ours == nullptr || seen != ours) {
    return absl::FailedPreconditionError(
        absl::StrCat("plug-ins would get TensorFlow's C functions from ", WhereIs(seen),
                     ", not from Tenon: load them in a process without TensorFlow"));
  }
  PluginAbi abi;
  abi.register_to = Symbol<decltype(abi.register_to)>(library, "tenon_device_abi_register_to");
  const auto version =
      Symbol<decltype(&tenon_device_abi_version)>(library, "tenon_device_abi_version");
  if (abi.register_to == nullptr || version == nullptr || std::string(version()) != TENON_VERSION) {
    return absl::FailedPreconditionError(
        absl::StrCat(file, " does not belong to this version of Tenon (", TENON_VERSION, ")"));
  }
  return abi;
}

}  // namespace

absl::StatusOr<PluginAbi> PluginAbi::Get() {
  static const auto* abi = new absl::StatusOr<PluginAbi>(OpenAbi());
  return *abi;
}

absl::StatusOr<PluginLibrary> PluginLibrary::Open(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return NotFound("plug-in '", path, "': no such file");
  TENON_RETURN_IF_ERROR(PluginAbi::Get().status());
  // dlopen would search for a name that is not an absolute path.
  const std::string file = fs::absolute(path, error).string();
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return InvalidArgument("plug-in '", path, "' cannot be loaded: ", LastError(file));
  }
  PluginLibrary library;
  library.path = path;
  library.init_plugin = Symbol<decltype(library.init_plugin)>(handle, "SE_InitPlugin");
  library.init_kernel = Symbol<decltype(library.init_kernel)>(handle, "TF_InitKernel");
  if (library.init_plugin == nullptr) {
    dlclose(handle);
    return InvalidArgument("'", path, "' is not a device plug-in: it has no SE_InitPlugin");
  }
  return library;
}

absl::StatusOr<std::vector<std::string>> PluginFiles(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  for (auto it = fs::directory_iterator(path, error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    if (absl::StrContains(it->path().filename().string(), ".so")) {
      files.push_back(it->path().string());
    }
  }
  if (error) return InvalidArgument("folder of plug-ins '", path, "': ", error.message());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace tenon
