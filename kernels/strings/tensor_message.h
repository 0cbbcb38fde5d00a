// Tensors as serialized TensorProto messages.
//
//   TENON_ASSIGN_OR_RETURN(const TensorMessage message, TensorMessage::Read(bytes));
//   TENON_ASSIGN_OR_RETURN(Tensor t, Tensor::Allocate(message.dtype(), message.shape()));
//   TENON_RETURN_IF_ERROR(message.Write(t.raw()));
#ifndef TENON_KERNELS_STRINGS_TENSOR_MESSAGE_H_
#define TENON_KERNELS_STRINGS_TENSOR_MESSAGE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/dtype.h"
#include "graph/shape.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Strings are written as string_val or, as all other dtypes, as tensor_content.
enum class StringForm { kValues, kContent };

// The message of a tensor, byte for byte TensorFlow's. The dtype must be neither resource nor
// variant.
std::string SerializeTensorMessage(DType dtype, const Shape& shape, const void* data,
                                   StringForm form = StringForm::kValues);

class TensorMessage {
 public:
  // `bytes` must outlive the result. InvalidArgument for bytes that are no such message, dtypes
  // without values (resource, variant), partial shapes and shapes too large.
  static absl::StatusOr<TensorMessage> Read(absl::string_view bytes);

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }

  // Writes all elements: the content, or the values, of which the last one is repeated to the end;
  // zeros if there are none. InvalidArgument if content does not have the size of the shape.
  absl::Status Write(void* out) const;

 private:
  DType dtype_ = DType::kInvalid;
  Shape shape_;
  absl::string_view bytes_, content_;
};

// SerializeTensor: the message of input 0, a scalar.
absl::StatusOr<std::unique_ptr<Kernel>> SerializeTensorKernel(PrepareContext& p);

// ParseTensor: the tensor in a message. InvalidArgument if it is not of the output's dtype.
absl::StatusOr<std::unique_ptr<Kernel>> ParseTensorKernel(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_STRINGS_TENSOR_MESSAGE_H_
