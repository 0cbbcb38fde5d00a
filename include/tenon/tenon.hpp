// Tenon's C++ interface: a thin layer over tenon.h that owns what it holds. It is compiled into the
// caller; the library itself knows only C. Failures are thrown as tenon::Error.
//
//   tenon::Session session("resnet50");
//   tenon::Tensor image = tenon::Tensor::Create<float>({1, 224, 224, 3});
//   ... image.data<float>() ...
//   std::vector<tenon::Tensor> outputs = session.Run({&image});
#ifndef TENON_TENON_HPP_
#define TENON_TENON_HPP_

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tenon/tenon.h"

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

template <typename T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr tenon_dtype value = TENON_FLOAT;
};
template <>
struct DTypeOf<double> {
  static constexpr tenon_dtype value = TENON_DOUBLE;
};
template <>
struct DTypeOf<int32_t> {
  static constexpr tenon_dtype value = TENON_INT32;
};
template <>
struct DTypeOf<int64_t> {
  static constexpr tenon_dtype value = TENON_INT64;
};
template <>
struct DTypeOf<uint8_t> {
  static constexpr tenon_dtype value = TENON_UINT8;
};
template <>
struct DTypeOf<int8_t> {
  static constexpr tenon_dtype value = TENON_INT8;
};
template <>
struct DTypeOf<bool> {
  static constexpr tenon_dtype value = TENON_BOOL;
};

class Tensor {
 public:
  explicit Tensor(tenon_tensor* owned) : tensor_(owned) {}

  static Tensor Create(tenon_dtype dtype, const std::vector<int64_t>& dims) {
    tenon_tensor* tensor = nullptr;
    Check(tenon_tensor_create(dtype, dims.data(), static_cast<int>(dims.size()), &tensor));
    return Tensor(tensor);
  }
  template <typename T>
  static Tensor Create(const std::vector<int64_t>& dims) {
    return Create(DTypeOf<T>::value, dims);
  }
  // Views `data`, which must outlive the tensor and stay as it is.
  template <typename T>
  static Tensor View(const std::vector<int64_t>& dims, T* data, size_t elements) {
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
  // Error where T is not the tensor's dtype.
  template <typename T>
  T* data() {
    if (dtype() != DTypeOf<T>::value)
      throw Error(TENON_INVALID_ARGUMENT, "tensor of another dtype");
    return static_cast<T*>(tenon_tensor_data(tensor_.get()));
  }
  std::string GetString(int64_t index) const {
    const char* data = nullptr;
    size_t size = 0;
    Check(tenon_tensor_get_string(get(), index, &data, &size));
    return {data, size};
  }
  void SetString(int64_t index, const std::string& value) {
    Check(tenon_tensor_set_string(tensor_.get(), index, value.data(), value.size()));
  }
  const tenon_tensor* get() const { return tensor_.get(); }

 private:
  struct Free {
    void operator()(tenon_tensor* t) const { tenon_tensor_free(t); }
  };
  std::unique_ptr<tenon_tensor, Free> tensor_;
};

struct SessionOptions {
  int threads = 0;
  int onednn_opts = -1;  // 1, 0, or -1: as the environment says
  std::string signature;
  std::string fetches;
};

class Session {
 public:
  explicit Session(const std::string& path, const SessionOptions& options = {}) {
    const tenon_session_options c = {
        sizeof(tenon_session_options), options.threads, options.onednn_opts,
        options.signature.empty() ? nullptr : options.signature.c_str(),
        options.fetches.empty() ? nullptr : options.fetches.c_str()};
    tenon_session* session = nullptr;
    Check(tenon_session_create(path.c_str(), &c, &session));
    session_.reset(session);
  }

  std::vector<std::string> input_names() const {
    std::vector<std::string> names;
    for (int i = 0; i < tenon_session_num_inputs(session_.get()); ++i) {
      names.emplace_back(tenon_session_input_name(session_.get(), i));
    }
    return names;
  }
  std::vector<std::string> output_names() const {
    std::vector<std::string> names;
    for (int i = 0; i < tenon_session_num_outputs(session_.get()); ++i) {
      names.emplace_back(tenon_session_output_name(session_.get(), i));
    }
    return names;
  }

  // By position; null for an input that is left out. Several threads may call it at once.
  std::vector<Tensor> Run(const std::vector<const Tensor*>& inputs) {
    std::vector<const tenon_tensor*> in;
    for (const Tensor* t : inputs) in.push_back(t == nullptr ? nullptr : t->get());
    std::vector<tenon_tensor*> out(static_cast<size_t>(tenon_session_num_outputs(session_.get())),
                                   nullptr);
    Check(tenon_session_run(session_.get(), in.data(), static_cast<int>(in.size()), out.data(),
                            static_cast<int>(out.size())));
    std::vector<Tensor> outputs;
    outputs.reserve(out.size());
    for (tenon_tensor* t : out) outputs.emplace_back(t);
    return outputs;
  }

 private:
  struct Free {
    void operator()(tenon_session* s) const { tenon_session_free(s); }
  };
  std::unique_ptr<tenon_session, Free> session_;
};

}  // namespace api
}  // namespace tenon

#endif  // TENON_TENON_HPP_
