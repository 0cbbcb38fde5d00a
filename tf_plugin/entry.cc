// What TensorFlow loads from site-packages/tensorflow-plugins: opens the real library, beside the
// Python package, in a scope of its own. TensorFlow's libraries are in the global scope with a
// protobuf and an abseil of their own, which must not be mixed with ours.
#include <dlfcn.h>

#include <cstdio>
#include <mutex>
#include <string>

namespace {

constexpr char kLibrary[] = "/../tenon_tensorflow/libtenon_tensorflow.so";

void* Load() {
  Dl_info self;
  if (dladdr(reinterpret_cast<void*>(&Load), &self) == 0) return nullptr;
  const std::string path = self.dli_fname;
  const std::string library = path.substr(0, path.rfind('/')) + kLibrary;
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (handle == nullptr) std::fprintf(stderr, "tenon: TensorFlow runs without it: %s\n", dlerror());
  return handle;
}

void* Symbol(const char* name) {
  static void* const library = Load();
  return library == nullptr ? nullptr : dlsym(library, name);
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) void TF_InitKernel() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (auto init = reinterpret_cast<void (*)()>(Symbol("TenonInitKernel"))) init();
  });
}

__attribute__((visibility("default"))) void TF_InitGraph(void* params, void* status) {
  if (auto init = reinterpret_cast<void (*)(void*, void*)>(Symbol("TenonInitGraph"))) {
    init(params, status);
  }
}

}  // extern "C"
