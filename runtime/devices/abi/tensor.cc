// TF_Tensor.
#include <algorithm>
#include <cstdlib>

#include "runtime/devices/abi/abi.h"

namespace {

using tenon::Dims;

constexpr size_t kAlignment = 64;

}  // namespace

int64_t tenon::Elements(const std::vector<int64_t>& dims) {
  int64_t n = 1;
  for (int64_t d : dims) {
    if (d < 0 || __builtin_mul_overflow(n, d, &n)) return -1;
  }
  return n;
}

extern "C" {

size_t TF_DataTypeSize(TF_DataType type) {
  switch (type) {
    case TF_COMPLEX128:
      return 16;
    case TF_DOUBLE:
    case TF_INT64:
    case TF_UINT64:
    case TF_COMPLEX64:
      return 8;
    case TF_FLOAT:
    case TF_INT32:
    case TF_UINT32:
    case TF_QINT32:
      return 4;
    case TF_INT16:
    case TF_UINT16:
    case TF_QINT16:
    case TF_QUINT16:
    case TF_BFLOAT16:
    case TF_HALF:
      return 2;
    case TF_STRING:
    case TF_RESOURCE:
    case TF_VARIANT:
      return 0;
    default:
      return 1;
  }
}

TF_Tensor* TF_NewTensor(TF_DataType type, const int64_t* dims, int num_dims, void* data, size_t len,
                        void (*deallocator)(void* data, size_t len, void* arg),
                        void* deallocator_arg) {
  auto* t = new TF_Tensor;
  t->type = type;
  t->dims = Dims(dims, num_dims);
  t->data = data;
  t->bytes = len;
  t->memory = std::shared_ptr<void>(data, [deallocator, len, deallocator_arg](void* memory) {
    if (deallocator != nullptr) deallocator(memory, len, deallocator_arg);
  });
  return t;
}

size_t TF_TensorDefaultAlignment() { return kAlignment; }

TF_Tensor* TF_AllocateTensor(TF_DataType type, const int64_t* dims, int num_dims, size_t len) {
  void* data = nullptr;
  if (posix_memalign(&data, kAlignment, std::max<size_t>(len, 1)) != 0) return nullptr;
  return TF_NewTensor(
      type, dims, num_dims, data, len, [](void* memory, size_t, void*) { std::free(memory); },
      nullptr);
}

TF_Tensor* TF_TensorMaybeMove(TF_Tensor* tensor) {
  return tensor->memory.use_count() == 1 ? tensor : nullptr;
}

void TF_DeleteTensor(TF_Tensor* tensor) { delete tensor; }
TF_DataType TF_TensorType(const TF_Tensor* tensor) { return tensor->type; }
void TF_SetShape(TF_Tensor* tensor, const int64_t* dims, int num_dims) {
  tensor->dims = Dims(dims, num_dims);
}
int TF_NumDims(const TF_Tensor* tensor) { return static_cast<int>(tensor->dims.size()); }
int64_t TF_Dim(const TF_Tensor* tensor, int dim_index) {
  return dim_index < 0 || dim_index >= TF_NumDims(tensor)
             ? -1
             : tensor->dims[static_cast<size_t>(dim_index)];
}
size_t TF_TensorByteSize(const TF_Tensor* tensor) { return tensor->bytes; }
void* TF_TensorData(const TF_Tensor* tensor) { return tensor->data; }
int64_t TF_TensorElementCount(const TF_Tensor* tensor) { return tenon::Elements(tensor->dims); }

void TF_TensorBitcastFrom(const TF_Tensor* from, TF_DataType type, TF_Tensor* to,
                          const int64_t* new_dims, int num_new_dims, TF_Status* status) {
  TF_Tensor cast = *from;
  cast.type = type;
  cast.dims = Dims(new_dims, num_new_dims);
  int64_t bytes = 0;
  if (__builtin_mul_overflow(tenon::Elements(cast.dims),
                             static_cast<int64_t>(TF_DataTypeSize(type)), &bytes) ||
      bytes != static_cast<int64_t>(from->bytes)) {
    return tenon::Set(status, TF_INVALID_ARGUMENT,
                      "the new shape and type need a different number of bytes");
  }
  *to = std::move(cast);
  tenon::Set(status, TF_OK);
}

bool TF_TensorIsAligned(const TF_Tensor* tensor) {
  return reinterpret_cast<uintptr_t>(tensor->data) % kAlignment == 0;
}

}  // extern "C"
