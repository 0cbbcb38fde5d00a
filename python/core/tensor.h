// The Python class Tensor: a tensor that other libraries read without a copy, by the buffer
// protocol and by DLPack.
#ifndef TENON_PYTHON_CORE_TENSOR_H_
#define TENON_PYTHON_CORE_TENSOR_H_

#include <nanobind/nanobind.h>

#include <memory>
#include <utility>
#include <vector>

#include "python/core/dtype.h"
#include "tenon/tenon.h"

namespace tenon::python {

struct FreeTensor {
  void operator()(tenon_tensor* tensor) const { tenon_tensor_free(tensor); }
};
using OwnedTensor = std::unique_ptr<tenon_tensor, FreeTensor>;

class Tensor {
 public:
  Tensor(OwnedTensor tensor, bool read_only) : tensor_(std::move(tensor)), read_only_(read_only) {}

  const tenon_tensor* get() const { return tensor_.get(); }
  void* data() const { return tenon_tensor_data(tensor_.get()); }
  const DTypeInfo& dtype() const;
  int rank() const { return tenon_tensor_rank(get()); }
  const int64_t* dims() const { return tenon_tensor_dims(get()); }
  bool read_only() const { return read_only_; }
  // In bytes, of row-major elements.
  Py_ssize_t* strides();

 private:
  OwnedTensor tensor_;
  bool read_only_;
  std::vector<Py_ssize_t> strides_;
};

// A view of a C-contiguous buffer, which it keeps; null without an exception if `object` exports
// none. `expected` is the dtype to read the elements as; null: their own. Throws if they cannot be
// read so.
OwnedTensor ViewBuffer(nanobind::handle object, const DTypeInfo* expected, bool& read_only);

nanobind::tuple ShapeTuple(const tenon_tensor* tensor);
// An array that owns the tensor; strings become an array of bytes objects.
nanobind::object ToNumpy(OwnedTensor tensor);

void AddTensor(nanobind::module_& module);

}  // namespace tenon::python

#endif  // TENON_PYTHON_CORE_TENSOR_H_
