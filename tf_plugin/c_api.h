// Owners for TensorFlow's C objects, and conversion of statuses and tensors.
#ifndef TENON_TF_PLUGIN_C_API_H_
#define TENON_TF_PLUGIN_C_API_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "graph/tensor.h"
#include "tensorflow/c/kernels.h"
#include "tensorflow/c/tf_buffer.h"
#include "tensorflow/c/tf_status.h"
#include "tensorflow/c/tf_tensor.h"

namespace tenon::plugin {

struct Delete {
  void operator()(TF_Status* s) const { TF_DeleteStatus(s); }
  void operator()(TF_Buffer* b) const { TF_DeleteBuffer(b); }
  void operator()(TF_Tensor* t) const { TF_DeleteTensor(t); }
};
using StatusPtr = std::unique_ptr<TF_Status, Delete>;
using BufferPtr = std::unique_ptr<TF_Buffer, Delete>;
using TensorPtr = std::unique_ptr<TF_Tensor, Delete>;

inline absl::Status FromTf(const TF_Status* s) {
  const TF_Code code = TF_GetCode(s);
  if (code == TF_OK) return absl::OkStatus();
  return absl::Status(static_cast<absl::StatusCode>(code), TF_Message(s));
}

inline void ToTf(const absl::Status& status, TF_Status* out) {
  TF_SetStatus(out, static_cast<TF_Code>(status.raw_code()), std::string(status.message()).c_str());
}

inline absl::string_view Bytes(const TF_Buffer& buffer) {
  return absl::string_view(static_cast<const char*>(buffer.data), buffer.length);
}

// The functions of a TensorFlow kernel, for a class with Create(construction) and Compute(context).
template <typename Kernel>
void* CreateKernel(TF_OpKernelConstruction* construction) {
  auto kernel = Kernel::Create(construction);
  if (kernel.ok()) return kernel->release();
  const StatusPtr status(TF_NewStatus());
  ToTf(kernel.status(), status.get());
  TF_OpKernelConstruction_Failure(construction, status.get());
  return nullptr;
}
template <typename Kernel>
void ComputeKernel(void* kernel, TF_OpKernelContext* context) {
  if (kernel == nullptr) return;  // its construction failed
  const absl::Status result = static_cast<Kernel*>(kernel)->Compute(context);
  if (result.ok()) return;
  const StatusPtr status(TF_NewStatus());
  ToTf(result, status.get());
  TF_OpKernelContext_Failure(context, status.get());
}

inline Shape ShapeOf(const TF_Tensor* tensor) {
  Shape shape;
  for (int d = 0; d < TF_NumDims(tensor); ++d) shape.push_back(TF_Dim(tensor, d));
  return shape;
}

// A view of the tensor's memory, which the caller keeps.
inline Tensor ViewOf(const TF_Tensor* tensor) {
  return Tensor::FromExternal(static_cast<DType>(TF_TensorType(tensor)), ShapeOf(tensor),
                              TF_TensorData(tensor), nullptr);
}

}  // namespace tenon::plugin

#endif  // TENON_TF_PLUGIN_C_API_H_
