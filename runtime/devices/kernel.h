// A plug-in's kernel for one node: created once, run by any number of threads.
#ifndef TENON_RUNTIME_DEVICES_KERNEL_H_
#define TENON_RUNTIME_DEVICES_KERNEL_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ops/op.h"
#include "runtime/devices/device.h"

namespace tenon {

class DeviceKernel {
 public:
  // `node` is the TensorFlow op's node, with complete attributes. `builder` and `device` must
  // outlive the kernel.
  static absl::StatusOr<std::shared_ptr<const DeviceKernel>> Create(const Device& device,
                                                                    const TF_KernelBuilder& builder,
                                                                    const OpInfo& op,
                                                                    const Node& node);
  ~DeviceKernel();
  DeviceKernel(const DeviceKernel&) = delete;
  DeviceKernel& operator=(const DeviceKernel&) = delete;

  const Device& device() const { return device_; }
  bool input_on_host(int i) const { return input_on_host_[static_cast<size_t>(i)]; }
  bool output_on_host(int i) const { return output_on_host_[static_cast<size_t>(i)]; }

  // Enqueues the kernel. The functions above say where inputs and outputs are. The memory of a
  // `released` input, which the caller no longer holds, may become an output's.
  absl::StatusOr<std::vector<Tensor>> Run(DeviceStream& stream, std::vector<Tensor> inputs,
                                          const std::vector<bool>& released) const;

 private:
  DeviceKernel(const Device& device, const TF_KernelBuilder& builder)
      : device_(device), builder_(builder) {}

  const Device& device_;
  const TF_KernelBuilder& builder_;
  std::string node_;
  std::vector<PluginArg> input_args_;
  std::vector<bool> input_on_host_;
  std::vector<bool> output_on_host_;
  std::vector<DType> output_dtypes_;
  void* kernel_ = nullptr;
};

}  // namespace tenon

#endif  // TENON_RUNTIME_DEVICES_KERNEL_H_
