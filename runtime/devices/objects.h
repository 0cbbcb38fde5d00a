// The structs behind the opaque types of tenon/device_plugin.h. The runtime creates these objects;
// the library of C functions (runtime/devices/abi, a separate shared library that plug-ins bind to
// when they are loaded) reads and writes them. They are plain data, so that the library needs no
// other part of Tenon; the two must come from one build.
#ifndef TENON_RUNTIME_DEVICES_OBJECTS_H_
#define TENON_RUNTIME_DEVICES_OBJECTS_H_

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "include/tenon/device_plugin.h"

struct TSL_Status {
  TF_Code code = TF_OK;
  std::string message;
  std::map<std::string, std::string> payloads;
};

struct TF_Tensor {
  TF_DataType type = TF_FLOAT;
  std::vector<int64_t> dims;
  void* data = nullptr;  // an address on the device, or in host memory
  size_t bytes = 0;
  std::shared_ptr<void> memory;  // owner of `data`; shared by tensors over the same memory
  bool on_host = true;
};

struct TF_KernelBuilder {
  std::string op;
  std::string device;  // type
  void* (*create)(TF_OpKernelConstruction*) = nullptr;
  void (*compute)(void*, TF_OpKernelContext*) = nullptr;
  void (*compute_async)(void*, TF_OpKernelContext*, TF_AsyncOpKernelDoneCallback*) = nullptr;
  void (*destroy)(void*) = nullptr;
  std::map<std::string, std::vector<TF_DataType>> types;  // by attribute: any of these
  std::vector<std::string> host_args;
  int32_t priority = 0;
  std::string label;
};

namespace tenon {

// An attribute's value, in one of the vectors; a scalar is a vector of size one.
struct PluginAttr {
  enum class Kind { kInt, kFloat, kBool, kString, kType, kShape, kTensor, kOther };
  Kind kind = Kind::kOther;
  bool list = false;
  std::vector<int64_t> ints;
  std::vector<float> floats;
  std::vector<TF_Bool> bools;
  std::vector<std::string> strings;
  std::vector<TF_DataType> types;
  std::vector<std::optional<std::vector<int64_t>>> shapes;  // nullopt: unknown rank
  std::vector<TF_Tensor> tensors;
};

// The tensors of one argument of the op: its name, and a range of indices.
struct PluginArg {
  std::string name;
  int start = 0;
  int stop = 0;
};

// Receives the kernels from TF_RegisterKernelBuilder while a plug-in is loaded.
class KernelRegistrar {
 public:
  virtual ~KernelRegistrar() = default;
  virtual void Register(std::unique_ptr<TF_KernelBuilder> kernel) = 0;
};

}  // namespace tenon

struct TF_OpKernelConstruction {
  std::string node;
  std::map<std::string, tenon::PluginAttr> attrs;
  TSL_Status status;  // the kernel's status after its construction
};

// One execution of a kernel.
struct TF_OpKernelContext {
  virtual ~TF_OpKernelContext() = default;
  // Memory for a tensor; null, with a status, if there is none.
  virtual std::optional<TF_Tensor> Allocate(TF_DataType type, std::vector<int64_t> dims,
                                            bool on_host, TSL_Status& status) = 0;

  std::string node;
  std::string device;  // "/job:localhost/…/device:APU:0"
  int device_ordinal = 0;
  int64_t step = 0;
  SP_Stream stream = nullptr;
  std::vector<TF_Tensor> inputs;
  // Nobody else needs the memory of this input after this run, so an output may use it.
  std::vector<bool> may_forward;
  std::vector<long> input_owners;  // of each input's memory, while the kernel has no handle
  std::vector<tenon::PluginArg> input_args;
  std::vector<std::string> input_names;
  std::vector<std::optional<TF_Tensor>> outputs;
  std::vector<TF_DataType> output_types;
  std::vector<bool> output_on_host;
  TSL_Status status;
};

struct TF_AsyncOpKernelDoneCallback {
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;

  void Run() {
    std::lock_guard<std::mutex> lock(mutex);
    done = true;
    changed.notify_all();
  }
  void Wait() {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [this] { return done; });
  }
};

// The library's own interface to the runtime, under these names.
extern "C" {
// Sets the destination of kernels that the calling thread registers; null: they are refused.
void tenon_device_abi_register_to(tenon::KernelRegistrar* registrar);
// The version of Tenon that the library belongs to.
const char* tenon_device_abi_version();
}

#endif  // TENON_RUNTIME_DEVICES_OBJECTS_H_
