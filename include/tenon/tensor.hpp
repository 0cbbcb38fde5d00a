// Errors, views, element types and tensors. Part of tenon.hpp, which includes it.
#ifndef TENON_TENSOR_HPP_
#define TENON_TENSOR_HPP_

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenon.h"  // beside this file

namespace tenon {
inline namespace api {

class Error : public std::runtime_error {
 public:
  Error(tenon_code code, const std::string& message) : std::runtime_error(message), code_(code) {}
  tenon_code code() const { return code_; }

 private:
  tenon_code code_;
};

inline void Check(tenon_status* status) {
  if (status == nullptr) return;
  const Error error(tenon_status_code(status), tenon_status_message(status));
  tenon_status_free(status);
  throw error;
}

// A view of elements that somebody else owns: std::span for C++17.
template <typename T>
class Span {
 public:
  using Element = std::remove_const_t<T>;

  Span() = default;
  Span(T* data, size_t size) : data_(data), size_(size) {}
  template <size_t N>
  Span(T (&array)[N]) : data_(array), size_(N) {}
  // std::vector, std::array, std::string, std::span and their like.
  template <typename C, typename = std::enable_if_t<
                            std::is_convertible_v<decltype(std::declval<C&>().data()), T*>>>
  Span(C&& container) : data_(container.data()), size_(container.size()) {}
  // Only as a function's argument: the list is gone after that.
  template <typename U = T, typename = std::enable_if_t<std::is_const_v<U>>>
  Span(std::initializer_list<Element> list) {
    data_ = list.begin();
    size_ = list.size();
  }

  T* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() const { return data_; }
  T* end() const { return data_ + size_; }
  T& operator[](size_t i) const { return data_[i]; }

 private:
  T* data_ = nullptr;
  size_t size_ = 0;
};

// 16-bit floats as they are stored, with conversions that round to the nearest even.
struct bfloat16 {
  uint16_t bits = 0;

  bfloat16() = default;
  explicit bfloat16(float value) {
    uint32_t word;
    std::memcpy(&word, &value, sizeof(word));
    const bool nan = value != value;
    bits = static_cast<uint16_t>(nan ? (word >> 16) | 0x40
                                     : (word + 0x7fff + ((word >> 16) & 1)) >> 16);
  }
  explicit operator float() const {
    const uint32_t word = static_cast<uint32_t>(bits) << 16;
    float value;
    std::memcpy(&value, &word, sizeof(value));
    return value;
  }
};

struct half {
  uint16_t bits = 0;

  half() = default;
  explicit half(float value) {
    uint32_t word;
    std::memcpy(&word, &value, sizeof(word));
    const uint32_t sign = (word >> 16) & 0x8000, magnitude = word & 0x7fffffff;
    uint32_t result;
    if (magnitude > 0x7f800000) {
      result = 0x7e00;  // NaN
    } else if (magnitude >= 0x477ff000) {
      result = 0x7c00;  // infinity, also by rounding
    } else if (magnitude < 0x38800000) {
      // Below the smallest normal number: the sum's last bits are the result's, rounded.
      float shifted;
      std::memcpy(&shifted, &magnitude, sizeof(shifted));
      shifted += 0.5f;
      std::memcpy(&result, &shifted, sizeof(result));
      result -= 0x3f000000;
    } else {
      result = (magnitude + 0xc8000fff + ((magnitude >> 13) & 1)) >> 13;
    }
    bits = static_cast<uint16_t>(sign | result);
  }
  explicit operator float() const {
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16, magnitude = bits & 0x7fff;
    uint32_t word;
    float value;
    if (magnitude >= 0x7c00) {
      word = 0x7f800000 | (magnitude & 0x3ff) << 13;  // infinity and NaN
    } else if (magnitude >= 0x400) {
      word = (magnitude << 13) + 0x38000000;
    } else {
      value = static_cast<float>(magnitude) * (1.0f / 16777216);  // 2^-24
      std::memcpy(&word, &value, sizeof(word));
    }
    word |= sign;
    std::memcpy(&value, &word, sizeof(value));
    return value;
  }
};

template <typename T>
struct DTypeOf;
template <>
struct DTypeOf<float> : std::integral_constant<tenon_dtype, TENON_FLOAT> {};
template <>
struct DTypeOf<double> : std::integral_constant<tenon_dtype, TENON_DOUBLE> {};
template <>
struct DTypeOf<half> : std::integral_constant<tenon_dtype, TENON_HALF> {};
template <>
struct DTypeOf<bfloat16> : std::integral_constant<tenon_dtype, TENON_BFLOAT16> {};
template <>
struct DTypeOf<int8_t> : std::integral_constant<tenon_dtype, TENON_INT8> {};
template <>
struct DTypeOf<int16_t> : std::integral_constant<tenon_dtype, TENON_INT16> {};
template <>
struct DTypeOf<int32_t> : std::integral_constant<tenon_dtype, TENON_INT32> {};
template <>
struct DTypeOf<int64_t> : std::integral_constant<tenon_dtype, TENON_INT64> {};
template <>
struct DTypeOf<uint8_t> : std::integral_constant<tenon_dtype, TENON_UINT8> {};
template <>
struct DTypeOf<uint16_t> : std::integral_constant<tenon_dtype, TENON_UINT16> {};
template <>
struct DTypeOf<uint32_t> : std::integral_constant<tenon_dtype, TENON_UINT32> {};
template <>
struct DTypeOf<uint64_t> : std::integral_constant<tenon_dtype, TENON_UINT64> {};
template <>
struct DTypeOf<bool> : std::integral_constant<tenon_dtype, TENON_BOOL> {};
template <>
struct DTypeOf<std::complex<float>> : std::integral_constant<tenon_dtype, TENON_COMPLEX64> {};
template <>
struct DTypeOf<std::complex<double>> : std::integral_constant<tenon_dtype, TENON_COMPLEX128> {};

// A dense tensor. Copies share its elements, as copies of a std::shared_ptr do; Clone does not.
class Tensor {
 public:
  // Takes over a tensor of the C interface.
  explicit Tensor(tenon_tensor* owned) : tensor_(owned, tenon_tensor_free) {}

  static Tensor Create(tenon_dtype dtype, Span<const int64_t> dims) {
    tenon_tensor* tensor = nullptr;
    Check(tenon_tensor_create(dtype, dims.data(), static_cast<int>(dims.size()), &tensor));
    return Tensor(tensor);
  }
  template <typename T>
  static Tensor Create(Span<const int64_t> dims) {
    return Create(DTypeOf<T>::value, dims);
  }
  // A copy of `elements`. Error if the shape has another number of elements.
  template <typename T>
  static Tensor From(Span<const int64_t> dims, Span<const T> elements) {
    Tensor tensor = Create<T>(dims);
    if (static_cast<size_t>(tensor.num_elements()) != elements.size()) {
      throw Error(TENON_INVALID_ARGUMENT, "the shape has another number of elements");
    }
    std::copy(elements.begin(), elements.end(), tensor.data<T>());
    return tensor;
  }
  // A view of `elements`, which must outlive the tensor and all of its copies. Runs only read it,
  // unless it is given for an output.
  template <typename T>
  static Tensor View(Span<const int64_t> dims, T* data, size_t elements) {
    tenon_tensor* tensor = nullptr;
    Check(tenon_tensor_view(DTypeOf<T>::value, dims.data(), static_cast<int>(dims.size()), data,
                            elements * sizeof(T), nullptr, nullptr, &tensor));
    return Tensor(tensor);
  }

  tenon_dtype dtype() const { return tenon_tensor_dtype(get()); }
  std::vector<int64_t> dims() const {
    const int64_t* dims = tenon_tensor_dims(get());
    return {dims, dims + tenon_tensor_rank(get())};
  }
  int64_t num_elements() const { return tenon_tensor_num_elements(get()); }
  size_t bytes() const { return tenon_tensor_bytes(get()); }
  // The elements, row by row. Throws Error if T is not the tensor's dtype.
  template <typename T>
  T* data() {
    return static_cast<T*>(Elements(DTypeOf<T>::value));
  }
  template <typename T>
  const T* data() const {
    return static_cast<const T*>(Elements(DTypeOf<T>::value));
  }
  template <typename T>
  Span<T> elements() {
    return {data<T>(), static_cast<size_t>(num_elements())};
  }
  template <typename T>
  Span<const T> elements() const {
    return {data<T>(), static_cast<size_t>(num_elements())};
  }
  std::string GetString(int64_t index) const {
    const char* data = nullptr;
    size_t size = 0;
    Check(tenon_tensor_get_string(get(), index, &data, &size));
    return {data, size};
  }
  void SetString(int64_t index, const std::string& value) {
    Check(tenon_tensor_set_string(get(), index, value.data(), value.size()));
  }
  // A tensor with elements of its own.
  Tensor Clone() const {
    Tensor copy = Create(dtype(), dims());
    if (dtype() == TENON_STRING) {
      for (int64_t i = 0; i < num_elements(); ++i) copy.SetString(i, GetString(i));
    } else if (bytes() > 0) {
      std::memcpy(tenon_tensor_data(copy.get()), tenon_tensor_data(get()), bytes());
    }
    return copy;
  }
  tenon_tensor* get() const { return tensor_.get(); }

 private:
  void* Elements(tenon_dtype wanted) const {
    if (dtype() != wanted) throw Error(TENON_INVALID_ARGUMENT, "tensor of another dtype");
    return tenon_tensor_data(get());
  }

  std::shared_ptr<tenon_tensor> tensor_;
};

// Tensors as arguments, by position: {x, y}, {&x, nullptr}, or a container of tensors. nullptr
// omits an optional input.
class Inputs {
 public:
  struct Input {
    Input(const Tensor& tensor) : pointer(tensor.get()) {}
    Input(const Tensor* tensor) : pointer(tensor == nullptr ? nullptr : tensor->get()) {}
    Input(std::nullptr_t) {}
    const tenon_tensor* pointer = nullptr;
  };

  Inputs() = default;
  Inputs(std::initializer_list<Input> inputs) {
    for (const Input& input : inputs) pointers_.push_back(input.pointer);
  }
  Inputs(const std::vector<Tensor>& tensors) {
    for (const Tensor& tensor : tensors) pointers_.push_back(tensor.get());
  }
  Inputs(const std::vector<const Tensor*>& tensors) {
    for (const Tensor* tensor : tensors) pointers_.push_back(Input(tensor).pointer);
  }
  const std::vector<const tenon_tensor*>& get() const { return pointers_; }

 private:
  std::vector<const tenon_tensor*> pointers_;
};

}  // namespace api
}  // namespace tenon

#endif  // TENON_TENSOR_HPP_
