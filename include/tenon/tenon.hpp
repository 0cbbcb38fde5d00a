// Tenon's C++ interface: a thin layer over tenon.h that owns its objects. It is compiled into the
// caller; the library itself exports only C. Failures are thrown as tenon::Error.
//
//   tenon::Session session("resnet50");
//   tenon::Tensor image = tenon::Tensor::Create<float>({1, 224, 224, 3});
//   ... image.data<float>() ...
//   std::vector<tenon::Tensor> outputs = session.Run({&image});
//   std::vector<tenon::Tensor> y = tenon::eager::Execute("Softmax", {&outputs[0]});
#ifndef TENON_TENON_HPP_
#define TENON_TENON_HPP_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
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
  // A view of `data`, which must outlive the tensor and must not change.
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
  // Throws Error if T is not the tensor's dtype.
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
  int onednn_opts = -1;  // 1, 0, or -1: as in the environment
  std::string signature;
  std::string fetches;
  std::string cache_dir;  // empty: TENON_CACHE_DIR
  std::string plugins;    // device plug-ins to load: "a.so:folder"
  std::string device;     // where nodes run if it has a kernel for them: "APU:0"; empty: the CPU
  std::string precision;  // "fp32" or "bf16"; empty: TF_SET_ONEDNN_FPMATH_MODE
  std::string feeds;      // inner tensors that are inputs too: "a:0,b:0"
  std::string tags;       // of a SavedModel's graph; empty: "serve", or the only one
};

class Session {
 public:
  explicit Session(const std::string& path, const SessionOptions& options = {}) {
    const auto given = [](const std::string& text) {
      return text.empty() ? nullptr : text.c_str();
    };
    tenon_session_options c = TENON_SESSION_OPTIONS_INIT;
    c.threads = options.threads;
    c.onednn_opts = options.onednn_opts;
    c.signature = given(options.signature);
    c.fetches = given(options.fetches);
    c.cache_dir = given(options.cache_dir);
    c.plugins = given(options.plugins);
    c.device = given(options.device);
    c.precision = given(options.precision);
    c.feeds = given(options.feeds);
    c.tags = given(options.tags);
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

  // By position; null for an omitted optional input. Several threads may call it at once.
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

  // Variables that the model changes; they keep their values from run to run.
  std::vector<std::string> variable_names() const {
    std::vector<std::string> names;
    for (int i = 0; i < tenon_session_num_variables(session_.get()); ++i) {
      names.emplace_back(tenon_session_variable_name(session_.get(), i));
    }
    return names;
  }
  Tensor ReadVariable(const std::string& name) const {
    tenon_tensor* value = nullptr;
    Check(tenon_session_read_variable(session_.get(), name.c_str(), &value));
    return Tensor(value);
  }
  void AssignVariable(const std::string& name, const Tensor& value) {
    Check(tenon_session_assign_variable(session_.get(), name.c_str(), value.get()));
  }
  tenon_session* get() const { return session_.get(); }

 private:
  struct Free {
    void operator()(tenon_session* s) const { tenon_session_free(s); }
  };
  std::unique_ptr<tenon_session, Free> session_;
};

struct GeneratorOptions {
  std::string tokens, position, logits;  // names; empty: found
  double temperature = 0;                // 0: always the likeliest token
  int64_t top_k = 0;                     // 0: all
  double top_p = 1;
  uint64_t seed = 0;
};

// Tokens one by one, from a session whose signature is one step of a decoder (tenon.h). The session
// must outlive it.
class Generator {
 public:
  explicit Generator(const Session& session, const GeneratorOptions& options = {}) {
    const auto given = [](const std::string& name) {
      return name.empty() ? nullptr : name.c_str();
    };
    const tenon_generator_options c = {sizeof(tenon_generator_options),
                                       given(options.tokens),
                                       given(options.position),
                                       given(options.logits),
                                       options.temperature,
                                       options.top_k,
                                       options.top_p,
                                       options.seed};
    tenon_generator* generator = nullptr;
    Check(tenon_generator_create(session.get(), &c, &generator));
    generator_.reset(generator);
  }
  void SetInput(const std::string& name, const Tensor& value) {
    Check(tenon_generator_set_input(generator_.get(), name.c_str(), value.get()));
  }
  void Prompt(const std::vector<int64_t>& tokens) {
    Check(tenon_generator_prompt(generator_.get(), tokens.data(), tokens.size()));
  }
  int64_t Next() {
    int64_t token = 0;
    Check(tenon_generator_next(generator_.get(), &token));
    return token;
  }
  void Reset() { Check(tenon_generator_reset(generator_.get())); }

 private:
  struct Free {
    void operator()(tenon_generator* g) const { tenon_generator_free(g); }
  };
  std::unique_ptr<tenon_generator, Free> generator_;
};

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
  Attrs& SetShape(const char* name, const std::vector<int64_t>& dims) {
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
  std::vector<Tensor> Execute(const char* op, const std::vector<const Tensor*>& inputs,
                              const Attrs& attrs = {}) {
    return Call<Tensor, tenon_tensor>(tenon_eager_execute, eager_.get(), op, inputs, attrs);
  }
  // Returns at once.
  std::vector<Handle> Submit(const char* op, const std::vector<const Handle*>& inputs,
                             const Attrs& attrs = {}) {
    return Call<Handle, tenon_handle>(tenon_eager_submit, eager_.get(), op, inputs, attrs);
  }

  template <typename T, typename C, typename F>
  static std::vector<T> Call(F call, tenon_eager* eager, const char* op,
                             const std::vector<const T*>& inputs, const Attrs& attrs) {
    std::vector<const C*> in;
    for (const T* t : inputs) in.push_back(t->get());
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
inline std::vector<Tensor> Execute(const char* op, const std::vector<const Tensor*>& inputs,
                                   const Attrs& attrs = {}) {
  return Eager::Call<Tensor, tenon_tensor>(tenon_eager_execute, nullptr, op, inputs, attrs);
}
inline std::vector<Handle> Submit(const char* op, const std::vector<const Handle*>& inputs,
                                  const Attrs& attrs = {}) {
  return Eager::Call<Handle, tenon_handle>(tenon_eager_submit, nullptr, op, inputs, attrs);
}
}  // namespace eager

}  // namespace api
}  // namespace tenon

#endif  // TENON_TENON_HPP_
