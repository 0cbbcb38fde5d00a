// Eager execution: one op at a time. Part of tenon.hpp, which includes it.
#ifndef TENON_EAGER_HPP_
#define TENON_EAGER_HPP_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "tensor.hpp"  // beside this file

namespace tenon {
inline namespace api {

// Attributes of an eager call: Attrs().Set("strides", {1, 2, 2, 1}).Set("padding", "SAME").
class Attrs {
 public:
  Attrs() : attrs_(tenon_attrs_create()) {
    if (attrs_ == nullptr) throw std::bad_alloc();
  }
  Attrs& Set(const char* name, int value) { return Set(name, static_cast<int64_t>(value)); }
  Attrs& Set(const char* name, int64_t value) {
    return Checked(tenon_attrs_set_int(get(), name, value));
  }
  Attrs& Set(const char* name, float value) {
    return Checked(tenon_attrs_set_float(get(), name, value));
  }
  Attrs& Set(const char* name, bool value) {
    return Checked(tenon_attrs_set_bool(get(), name, value ? 1 : 0));
  }
  Attrs& Set(const char* name, const char* value) { return Set(name, std::string(value)); }
  Attrs& Set(const char* name, const std::string& value) {
    return Checked(tenon_attrs_set_string(get(), name, value.data(), value.size()));
  }
  Attrs& Set(const char* name, tenon_dtype value) {
    return Checked(tenon_attrs_set_type(get(), name, value));
  }
  Attrs& Set(const char* name, const Tensor& value) {
    return Checked(tenon_attrs_set_tensor(get(), name, value.get()));
  }
  Attrs& Set(const char* name, const std::vector<int64_t>& values) {
    return Checked(tenon_attrs_set_ints(get(), name, values.data(), values.size()));
  }
  Attrs& Set(const char* name, std::initializer_list<int64_t> values) {
    return Checked(tenon_attrs_set_ints(get(), name, values.begin(), values.size()));
  }
  Attrs& Set(const char* name, const std::vector<float>& values) {
    return Checked(tenon_attrs_set_floats(get(), name, values.data(), values.size()));
  }
  Attrs& SetShape(const char* name, Span<const int64_t> dims) {
    return Checked(tenon_attrs_set_shape(get(), name, dims.data(), static_cast<int>(dims.size())));
  }
  tenon_attrs* get() const { return attrs_.get(); }

 private:
  struct Free {
    void operator()(tenon_attrs* a) const { tenon_attrs_free(a); }
  };
  Attrs& Checked(tenon_status* status) {
    Check(status);
    return *this;
  }
  std::unique_ptr<tenon_attrs, Free> attrs_;
};

// A tensor that is ready or being computed.
class Handle {
 public:
  explicit Handle(tenon_handle* owned) : handle_(owned) {}
  explicit Handle(const Tensor& tensor) {
    tenon_handle* handle = nullptr;
    Check(tenon_handle_create(tensor.get(), &handle));
    handle_.reset(handle);
  }
  bool ready() const { return tenon_handle_ready(handle_.get()) != 0; }
  // Waits. Throws the first error of the calls that it depends on.
  Tensor Read() const {
    tenon_tensor* tensor = nullptr;
    Check(tenon_handle_read(handle_.get(), &tensor));
    return Tensor(tensor);
  }
  const tenon_handle* get() const { return handle_.get(); }

 private:
  struct Free {
    void operator()(tenon_handle* h) const { tenon_handle_free(h); }
  };
  std::unique_ptr<tenon_handle, Free> handle_;
};

// Runs one op at a time. More than kMaxOutputs outputs are an error.
class Eager {
 public:
  static constexpr int kMaxOutputs = 64;

  explicit Eager(int threads = 0, int onednn_opts = -1) {
    const tenon_eager_options c = {sizeof(tenon_eager_options), threads, onednn_opts};
    tenon_eager* eager = nullptr;
    Check(tenon_eager_create(&c, &eager));
    eager_.reset(eager);
  }
  std::vector<Tensor> Execute(const char* op, const Inputs& inputs, const Attrs& attrs = {}) {
    return Call<Tensor, tenon_tensor>(tenon_eager_execute, eager_.get(), op, inputs.get(), attrs);
  }
  // Returns at once.
  std::vector<Handle> Submit(const char* op, const std::vector<const Handle*>& inputs,
                             const Attrs& attrs = {}) {
    return Call<Handle, tenon_handle>(tenon_eager_submit, eager_.get(), op, Pointers(inputs),
                                      attrs);
  }

  static std::vector<const tenon_handle*> Pointers(const std::vector<const Handle*>& handles) {
    std::vector<const tenon_handle*> pointers;
    for (const Handle* handle : handles) pointers.push_back(handle->get());
    return pointers;
  }
  template <typename T, typename C, typename F>
  static std::vector<T> Call(F call, tenon_eager* eager, const char* op,
                             const std::vector<const C*>& in, const Attrs& attrs) {
    C* out[kMaxOutputs];
    int made = kMaxOutputs;
    Check(call(eager, op, in.data(), static_cast<int>(in.size()), attrs.get(), out, &made));
    std::vector<T> outputs;
    outputs.reserve(static_cast<size_t>(made));
    for (int i = 0; i < made; ++i) outputs.emplace_back(out[i]);
    return outputs;
  }

 private:
  struct Free {
    void operator()(tenon_eager* e) const { tenon_eager_free(e); }
  };
  std::unique_ptr<tenon_eager, Free> eager_;
};

// Uses the process's own context.
namespace eager {
inline std::vector<Tensor> Execute(const char* op, const Inputs& inputs, const Attrs& attrs = {}) {
  return Eager::Call<Tensor, tenon_tensor>(tenon_eager_execute, nullptr, op, inputs.get(), attrs);
}
inline std::vector<Handle> Submit(const char* op, const std::vector<const Handle*>& inputs,
                                  const Attrs& attrs = {}) {
  return Eager::Call<Handle, tenon_handle>(tenon_eager_submit, nullptr, op, Eager::Pointers(inputs),
                                           attrs);
}
}  // namespace eager

}  // namespace api
}  // namespace tenon

#endif  // TENON_EAGER_HPP_
