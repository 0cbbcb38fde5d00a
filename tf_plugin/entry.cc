// The library that TensorFlow loads from site-packages/tensorflow-plugins. It opens the real
// library, next to the Python package, in a scope of its own: TensorFlow's libraries are in the
// global scope with their own protobuf and abseil, which must not be mixed with ours.
#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>

#include "env/openmp.h"
#include "tensorflow/c/experimental/grappler/grappler.h"

namespace {

constexpr char kName[] = "/libtenon_tensorflow.so";

// Whether the process has the library from another file, such as a second installation. Names that
// can be registered only once per process, including protobuf messages, are then taken.
bool HasAnother(const std::string& library) {
  return dl_iterate_phdr(
             [](dl_phdr_info* info, size_t, void* ours) {
               const std::string name = info->dlpi_name == nullptr ? "" : info->dlpi_name;
               const size_t length = sizeof(kName) - 1;
               if (name.size() < length || name.substr(name.size() - length) != kName) return 0;
               struct stat a, b;
               const char* path = static_cast<const std::string*>(ours)->c_str();
               if (stat(name.c_str(), &a) != 0 || stat(path, &b) != 0) return 0;
               return a.st_dev == b.st_dev && a.st_ino == b.st_ino ? 0 : 1;
             },
             const_cast<std::string*>(&library)) != 0;
}

void* Load() {
  Dl_info self;
  if (dladdr(reinterpret_cast<void*>(&Load), &self) == 0) return nullptr;
  const std::string path = self.dli_fname;
  const std::string library = path.substr(0, path.rfind('/')) + "/../tenon_tensorflow" + kName;
  if (HasAnother(library)) {
    std::fprintf(stderr, "tenon: %s is not used, another copy is loaded\n", path.c_str());
    return nullptr;
  }
  // For the libgomp in the wheel, whose threads would otherwise take the CPU from TensorFlow's.
  const bool spin_set = tenon::SetShortSpin(/*many_teams=*/true);
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (spin_set) tenon::UnsetSpin();
  if (handle == nullptr) std::fprintf(stderr, "tenon: TensorFlow runs without it: %s\n", dlerror());
  return handle;
}

void* Symbol(const char* name) {
  static void* const library = Load();
  return library == nullptr ? nullptr : dlsym(library, name);
}

// For a missing library: TensorFlow's import fails if nothing is registered, so this registers an
// optimizer for a device that does not exist.
void RegisterNothing(TP_OptimizerRegistrationParams* params) {
  static std::atomic<int> calls = 0;
  auto* device = new std::string("TENON_OUT_ENTRY_");  // a new one for each call and each copy
  *device += std::to_string(reinterpret_cast<uintptr_t>(&calls)) + "_" + std::to_string(calls++);
  params->struct_size = TP_OPTIMIZER_REGISTRATION_PARAMS_STRUCT_SIZE;
  params->optimizer_configs->struct_size = TP_OPTIMIZER_CONFIGS_STRUCT_SIZE;
  params->optimizer->struct_size = TP_OPTIMIZER_STRUCT_SIZE;
  params->optimizer->optimize_func = [](void*, const TF_Buffer*, const TF_GrapplerItem*, TF_Buffer*,
                                        TF_Status*) {};
  params->device_type = device->c_str();
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) void TF_InitKernel() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (auto init = reinterpret_cast<void (*)()>(Symbol("TenonInitKernel"))) init();
  });
}

__attribute__((visibility("default"))) void TF_InitGraph(TP_OptimizerRegistrationParams* params,
                                                         TF_Status* status) {
  using Init = void (*)(TP_OptimizerRegistrationParams*, TF_Status*);
  if (auto init = reinterpret_cast<Init>(Symbol("TenonInitGraph"))) return init(params, status);
  RegisterNothing(params);
}

}  // extern "C"
