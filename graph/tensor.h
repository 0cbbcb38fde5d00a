// A tensor: dtype, complete shape, and a shared buffer of plain row-major elements.
// Copies share the buffer. Buffers are 64-byte aligned; strings are std::string objects.
//
//   TENON_ASSIGN_OR_RETURN(Tensor t, Tensor::Allocate(DType::kFloat, Shape({2, 3})));
//   t.flat<float>()[0] = 1;
#ifndef TENON_GRAPH_TENSOR_H_
#define TENON_GRAPH_TENSOR_H_

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "graph/dtype.h"
#include "graph/shape.h"

namespace tenon {

class Tensor {
 public:
  Tensor() = default;  // no dtype, no elements: !valid()

  // A tensor with uninitialized elements (empty strings for kString). InvalidArgument for partial
  // or negative shapes and for dtypes without elements; ResourceExhausted if there is not enough
  // memory.
  static absl::StatusOr<Tensor> Allocate(DType dtype, const Shape& shape);

  // A view of memory that `owner` keeps alive (a mapped file, a user's array).
  static Tensor FromExternal(DType dtype, const Shape& shape, void* data,
                             std::shared_ptr<const void> owner);

  // For small values that the program itself makes. Throws std::bad_alloc if there is no memory.
  template <typename T>
  static Tensor Scalar(T value) {
    return From<T>(Shape(), {std::move(value)});
  }
  template <typename T>
  static Tensor Vector(std::vector<T> values) {
    const Shape shape({static_cast<int64_t>(values.size())});
    return From<T>(shape, std::move(values));
  }
  template <typename T>
  static Tensor From(const Shape& shape, std::vector<T> values) {
    auto t = Allocate(DTypeTraits<T>::value, shape);
    if (!t.ok()) throw std::bad_alloc();
    Tensor out = *std::move(t);
    for (size_t i = 0; i < values.size(); ++i) out.data<T>()[i] = std::move(values[i]);
    return out;
  }

  bool valid() const { return dtype_ != DType::kInvalid; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int64_t num_elements() const { return num_elements_; }
  size_t bytes() const { return static_cast<size_t>(num_elements_) * SizeOf(dtype_); }

  void* raw() { return data_; }
  const void* raw() const { return data_; }
  template <typename T>
  T* data() {
    return static_cast<T*>(data_);
  }
  template <typename T>
  const T* data() const {
    return static_cast<const T*>(data_);
  }
  template <typename T>
  absl::Span<T> flat() {
    return absl::Span<T>(data<T>(), static_cast<size_t>(num_elements_));
  }
  template <typename T>
  absl::Span<const T> flat() const {
    return absl::Span<const T>(data<T>(), static_cast<size_t>(num_elements_));
  }

  // Whether nobody else holds the buffer, and it is our own writable memory. Before this returns
  // true, all reads by former holders are complete.
  bool OwnsAlone() const;
  // Whether the tensor keeps its memory alive; a view of memory without an owner does not.
  bool HasOwner() const { return buffer_ != nullptr; }
  // Whether two tensors use the same memory.
  bool SharesBufferWith(const Tensor& other) const { return data_ == other.data_; }

  // The same buffer with another shape that has as many elements.
  absl::StatusOr<Tensor> Reshaped(const Shape& shape) const;
  // A deep copy with its own memory.
  absl::StatusOr<Tensor> Clone() const;

 private:
  DType dtype_ = DType::kInvalid;
  Shape shape_;
  int64_t num_elements_ = 0;
  void* data_ = nullptr;
  bool owned_ = false;
  std::shared_ptr<const void> buffer_;
};

// Whether dtype, shape and bytes are the same (strings by value; NaN equals NaN with the same
// bits).
bool Identical(const Tensor& a, const Tensor& b);

// All elements of an int32 or int64 tensor. InvalidArgument for other dtypes.
absl::StatusOr<std::vector<int64_t>> IntegerValues(const Tensor& t);

}  // namespace tenon

#endif  // TENON_GRAPH_TENSOR_H_
