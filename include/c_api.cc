// The C interface: version, statuses and tensors (graph/tensor.h).
#include <memory>
#include <string>

#include "env/status.h"
#include "include/c_api_types.h"
#include "tenon/tenon.h"

namespace {

using tenon::DType;
using tenon::Guard;
using tenon::InvalidArgument;
using tenon::Shape;
using tenon::ShapeFromDims;
using tenon::Tensor;

absl::Status CheckString(const tenon_tensor* tensor, int64_t index) {
  if (tensor == nullptr || tensor->tensor.dtype() != DType::kString) {
    return InvalidArgument("not a string tensor");
  }
  if (index < 0 || index >= tensor->tensor.num_elements()) {
    return InvalidArgument("index ", index, " is not in a tensor of shape ",
                           tensor->tensor.shape().ToString());
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Shape> tenon::ShapeFromDims(const int64_t* dims, int rank) {
  if (rank < 0 || (rank > 0 && dims == nullptr)) return InvalidArgument("bad dims");
  return Shape(absl::Span<const int64_t>(dims, static_cast<size_t>(rank)));
}

const char* tenon_version(void) { return TENON_VERSION; }

tenon_code tenon_status_code(const tenon_status* status) {
  if (status == nullptr) return TENON_OK;
  switch (status->status.code()) {
    case absl::StatusCode::kCancelled:
      return TENON_CANCELLED;
    case absl::StatusCode::kDeadlineExceeded:
      return TENON_DEADLINE_EXCEEDED;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
      return TENON_INVALID_ARGUMENT;
    case absl::StatusCode::kNotFound:
      return TENON_NOT_FOUND;
    case absl::StatusCode::kResourceExhausted:
      return TENON_RESOURCE_EXHAUSTED;
    case absl::StatusCode::kFailedPrecondition:
      return TENON_FAILED_PRECONDITION;
    case absl::StatusCode::kUnimplemented:
      return TENON_UNIMPLEMENTED;
    default:
      return TENON_INTERNAL;
  }
}
const char* tenon_status_message(const tenon_status* status) {
  return status == nullptr ? "" : status->message.c_str();
}
tenon_status* tenon::OutOfMemoryHandle() noexcept {
  static tenon_status status{OutOfMemory(), "out of memory"};  // small: within the string itself
  return &status;
}
void tenon_status_free(tenon_status* status) {
  if (status != tenon::OutOfMemoryHandle()) delete status;
}

tenon_status* tenon_tensor_create(tenon_dtype dtype, const int64_t* dims, int rank,
                                  tenon_tensor** tensor) {
  return Guard([&]() -> absl::Status {
    if (tensor == nullptr) return InvalidArgument("null argument");
    TENON_ASSIGN_OR_RETURN(const Shape shape, ShapeFromDims(dims, rank));
    TENON_ASSIGN_OR_RETURN(Tensor t, Tensor::Allocate(static_cast<DType>(dtype), shape));
    *tensor = new tenon_tensor{std::move(t)};
    return absl::OkStatus();
  });
}

tenon_status* tenon_tensor_view(tenon_dtype dtype, const int64_t* dims, int rank, void* data,
                                size_t bytes, void (*release)(void* argument), void* argument,
                                tenon_tensor** tensor) {
  return Guard([&]() -> absl::Status {
    if (tensor == nullptr || (data == nullptr && bytes > 0))
      return InvalidArgument("null argument");
    const DType d = static_cast<DType>(dtype);
    if (d == DType::kString || tenon::SizeOf(d) == 0) {
      return InvalidArgument("memory of dtype ", tenon::Name(d), " cannot be viewed");
    }
    TENON_ASSIGN_OR_RETURN(const Shape shape, ShapeFromDims(dims, rank));
    TENON_ASSIGN_OR_RETURN(const int64_t elements, shape.CheckedElements());
    size_t need = 0;
    if (__builtin_mul_overflow(static_cast<size_t>(elements), tenon::SizeOf(d), &need) ||
        need != bytes) {
      return InvalidArgument("shape ", shape.ToString(), " does not have ", bytes, " bytes");
    }
    auto view = std::make_unique<tenon_tensor>();
    std::shared_ptr<const void> owner;
    if (release != nullptr) {
      owner = std::shared_ptr<const void>(data,
                                          [release, argument](const void*) { release(argument); });
    }
    view->tensor = Tensor::FromExternal(d, shape, data, std::move(owner));
    *tensor = view.release();
    return absl::OkStatus();
  });
}

void tenon_tensor_free(tenon_tensor* tensor) { delete tensor; }
tenon_dtype tenon_tensor_dtype(const tenon_tensor* tensor) {
  return static_cast<tenon_dtype>(tensor->tensor.dtype());
}
int tenon_tensor_rank(const tenon_tensor* tensor) { return tensor->tensor.shape().rank(); }
const int64_t* tenon_tensor_dims(const tenon_tensor* tensor) {
  return tensor->tensor.shape().dims().data();
}
int64_t tenon_tensor_num_elements(const tenon_tensor* tensor) {
  return tensor->tensor.num_elements();
}
void* tenon_tensor_data(tenon_tensor* tensor) {
  return tensor->tensor.dtype() == DType::kString ? nullptr : tensor->tensor.raw();
}
size_t tenon_tensor_bytes(const tenon_tensor* tensor) {
  return tensor->tensor.dtype() == DType::kString ? 0 : tensor->tensor.bytes();
}
tenon_status* tenon_tensor_set_string(tenon_tensor* tensor, int64_t index, const char* data,
                                      size_t size) {
  return Guard([&]() -> absl::Status {
    TENON_RETURN_IF_ERROR(CheckString(tensor, index));
    if (data == nullptr && size > 0) return InvalidArgument("null argument");
    tensor->tensor.data<std::string>()[index].assign(data == nullptr ? "" : data, size);
    return absl::OkStatus();
  });
}
tenon_status* tenon_tensor_get_string(const tenon_tensor* tensor, int64_t index, const char** data,
                                      size_t* size) {
  return Guard([&]() -> absl::Status {
    TENON_RETURN_IF_ERROR(CheckString(tensor, index));
    if (data == nullptr || size == nullptr) return InvalidArgument("null argument");
    const std::string& s = tensor->tensor.data<std::string>()[index];
    *data = s.data();
    *size = s.size();
    return absl::OkStatus();
  });
}
