// Models, sessions, runs and reports. Part of tenon.hpp, which includes it.
#ifndef TENON_SESSION_HPP_
#define TENON_SESSION_HPP_

#include <chrono>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tensor.hpp"  // beside this file

namespace tenon {
inline namespace api {

// What is known of an input or output without a run.
struct TensorSpec {
  std::string name;
  std::string tensor;                        // in a model's graph: "x:0"; empty in a session
  tenon_dtype dtype = (tenon_dtype)0;        // 0: not known
  std::optional<std::vector<int64_t>> dims;  // nullopt: unknown rank; -1: unknown dimension
  bool optional = false;

  explicit TensorSpec(const tenon_tensor_spec& spec)
      : name(spec.name),
        tensor(spec.tensor == nullptr ? "" : spec.tensor),
        dtype(spec.dtype),
        optional(spec.optional != 0) {
    if (spec.rank >= 0) dims.emplace(spec.dims, spec.dims + spec.rank);
  }
};

struct Signature {
  std::string name, method;
  std::vector<TensorSpec> inputs, outputs;
};

// Empty text stands for what the environment or the library decides.
struct SessionOptions {
  int threads = 0;
  int onednn_opts = -1;  // 1, 0, or -1: as in the environment
  std::string signature;
  std::string fetches;
  std::string cache_dir;     // empty: TENON_CACHE_DIR
  std::string plugins;       // device plug-ins to load: "a.so:folder"
  std::string device;        // where nodes run if it has a kernel for them: "APU:0"; empty: the CPU
  std::string precision;     // "fp32" or "bf16"; empty: TF_SET_ONEDNN_FPMATH_MODE
  std::string feeds;         // inner tensors that are inputs too: "a:0,b:0"
  std::string tags;          // of a SavedModel's graph; empty: "serve", or the only one
  int64_t memory_limit = 0;  // the most bytes that weights, plans and runs may take; 0: no limit

  // Points into this object.
  tenon_session_options ToC() const {
    const auto given = [](const std::string& text) {
      return text.empty() ? nullptr : text.c_str();
    };
    tenon_session_options c = TENON_SESSION_OPTIONS_INIT;
    c.threads = threads;
    c.onednn_opts = onednn_opts;
    c.signature = given(signature);
    c.fetches = given(fetches);
    c.cache_dir = given(cache_dir);
    c.plugins = given(plugins);
    c.device = given(device);
    c.precision = given(precision);
    c.feeds = given(feeds);
    c.tags = given(tags);
    c.memory_limit = memory_limit;
    return c;
  }
};

// The text of a report, which it frees.
inline std::string TakeText(tenon_text* text) {
  const std::unique_ptr<tenon_text, void (*)(tenon_text*)> owner(text, tenon_text_free);
  return {tenon_text_data(text), tenon_text_size(text)};
}

// A model that is open, but not loaded.
class Model {
 public:
  static Model Open(const std::string& path) {
    tenon_model* model = nullptr;
    Check(tenon_model_open(path.c_str(), &model));
    return Model(model);
  }
  // The bytes must outlive the model.
  static Model Parse(Span<const char> bytes) {
    tenon_model* model = nullptr;
    Check(tenon_model_parse(bytes.data(), bytes.size(), &model));
    return Model(model);
  }
  std::string format() const { return tenon_model_format(get()); }
  std::vector<Signature> signatures() const {
    std::vector<Signature> all;
    for (int s = 0; s < tenon_model_num_signatures(get()); ++s) {
      Signature signature{
          tenon_model_signature_name(get(), s), tenon_model_signature_method(get(), s), {}, {}};
      tenon_tensor_spec spec = TENON_TENSOR_SPEC_INIT;
      for (int i = 0; i < tenon_model_num_inputs(get(), s); ++i) {
        Check(tenon_model_input(get(), s, i, &spec));
        signature.inputs.emplace_back(spec);
      }
      for (int i = 0; i < tenon_model_num_outputs(get(), s); ++i) {
        Check(tenon_model_output(get(), s, i, &spec));
        signature.outputs.emplace_back(spec);
      }
      all.push_back(std::move(signature));
    }
    return all;
  }
  // JSON, see reports.h. No nodes: every op that has an accelerated kernel; {"*"}: all.
  std::string Explain(const std::vector<std::string>& nodes = {},
                      const SessionOptions& options = {}) const {
    std::vector<const char*> names;
    for (const std::string& node : nodes) names.push_back(node.c_str());
    const tenon_session_options c = options.ToC();
    tenon_text* text = nullptr;
    Check(tenon_model_explain(get(), &c, names.data(), static_cast<int>(names.size()), &text));
    return TakeText(text);
  }
  tenon_model* get() const { return model_.get(); }

 private:
  explicit Model(tenon_model* model) : model_(model) {}
  struct Free {
    void operator()(tenon_model* m) const { tenon_model_free(m); }
  };
  std::unique_ptr<tenon_model, Free> model_;
};

// Asks runs to stop, from any thread. Copies share the request.
class CancelToken {
 public:
  CancelToken() : cancel_(tenon_cancel_create(), tenon_cancel_free) {
    if (cancel_ == nullptr) throw std::bad_alloc();
  }
  void Request() const { tenon_cancel_request(cancel_.get()); }
  bool requested() const { return tenon_cancel_requested(cancel_.get()) != 0; }
  const tenon_cancel* get() const { return cancel_.get(); }

 private:
  std::shared_ptr<tenon_cancel> cancel_;
};

// The times of steps, over one run after the other.
class Profile {
 public:
  Profile() : profile_(tenon_profile_create()) {
    if (profile_ == nullptr) throw std::bad_alloc();
  }
  int num_runs() const { return tenon_profile_num_runs(get()); }
  void Clear() { tenon_profile_clear(get()); }
  // JSON, see reports.h.
  std::string Report() const {
    tenon_text* text = nullptr;
    Check(tenon_profile_report(get(), &text));
    return TakeText(text);
  }
  // For Perfetto and chrome://tracing.
  std::string Trace() const {
    tenon_text* text = nullptr;
    Check(tenon_profile_trace(get(), &text));
    return TakeText(text);
  }
  tenon_profile* get() const { return profile_.get(); }

 private:
  struct Free {
    void operator()(tenon_profile* p) const { tenon_profile_free(p); }
  };
  std::unique_ptr<tenon_profile, Free> profile_;
};

struct RunOptions {
  std::chrono::nanoseconds timeout{0};  // 0: no limit
  const CancelToken* cancel = nullptr;
  Profile* profile = nullptr;

  tenon_run_options ToC() const {
    tenon_run_options c = TENON_RUN_OPTIONS_INIT;
    c.timeout_ns = timeout.count();
    c.cancel = cancel == nullptr ? nullptr : cancel->get();
    c.profile = profile == nullptr ? nullptr : profile->get();
    return c;
  }
};

// Several threads may run a session at once.
class Session {
 public:
  using Named = std::vector<std::pair<std::string, Tensor>>;

  explicit Session(const std::string& path, const SessionOptions& options = {}) {
    const tenon_session_options c = options.ToC();
    tenon_session* session = nullptr;
    Check(tenon_session_create(path.c_str(), &c, &session));
    session_.reset(session);
  }
  explicit Session(const Model& model, const SessionOptions& options = {}) {
    const tenon_session_options c = options.ToC();
    tenon_session* session = nullptr;
    Check(tenon_session_create_from_model(model.get(), &c, &session));
    session_.reset(session);
  }

  std::vector<TensorSpec> inputs() const {
    std::vector<TensorSpec> specs;
    tenon_tensor_spec spec = TENON_TENSOR_SPEC_INIT;
    for (int i = 0; i < tenon_session_num_inputs(get()); ++i) {
      Check(tenon_session_input(get(), i, &spec));
      specs.emplace_back(spec);
    }
    return specs;
  }
  std::vector<TensorSpec> outputs() const {
    std::vector<TensorSpec> specs;
    tenon_tensor_spec spec = TENON_TENSOR_SPEC_INIT;
    for (int i = 0; i < tenon_session_num_outputs(get()); ++i) {
      Check(tenon_session_output(get(), i, &spec));
      specs.emplace_back(spec);
    }
    return specs;
  }
  std::vector<std::string> input_names() const {
    std::vector<std::string> names;
    for (int i = 0; i < tenon_session_num_inputs(get()); ++i) {
      names.emplace_back(tenon_session_input_name(get(), i));
    }
    return names;
  }
  std::vector<std::string> output_names() const {
    std::vector<std::string> names;
    for (int i = 0; i < tenon_session_num_outputs(get()); ++i) {
      names.emplace_back(tenon_session_output_name(get(), i));
    }
    return names;
  }

  // By position: all outputs, in order.
  std::vector<Tensor> Run(const Inputs& inputs, const RunOptions& options = {}) {
    return Outputs(inputs.get(), nullptr, {}, options);
  }
  // By name: the outputs asked for, in that order; none: all.
  std::vector<Tensor> RunNamed(const Named& inputs, const std::vector<std::string>& outputs = {},
                               const RunOptions& options = {}) {
    std::vector<const char*> names, wanted;
    std::vector<const tenon_tensor*> tensors;
    for (const auto& [name, tensor] : inputs) {
      names.push_back(name.c_str());
      tensors.push_back(tensor.get());
    }
    for (const std::string& name : outputs) wanted.push_back(name.c_str());
    return Outputs(tensors, names.data(), wanted, options);
  }
  // By position, into tensors of the outputs' dtypes and shapes; nullptr leaves one out. Their
  // elements are undefined if it throws.
  void RunInto(const Inputs& inputs, Span<Tensor* const> outputs, const RunOptions& options = {}) {
    std::vector<tenon_tensor*> made(outputs.size(), nullptr);
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i] != nullptr) made[i] = outputs[i]->get();
    }
    Call(inputs.get(), nullptr, {}, options, made);
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i] == nullptr) tenon_tensor_free(made[i]);
    }
  }

  // Throws TENON_FAILED_PRECONDITION unless one run on the rows of several calls' inputs gives each
  // its results (tenon_session_check_rows).
  void CheckRows(const Named& inputs) const {
    std::vector<const char*> names;
    std::vector<const tenon_tensor*> tensors;
    for (const auto& [name, tensor] : inputs) {
      names.push_back(name.c_str());
      tensors.push_back(tensor.get());
    }
    Check(tenon_session_check_rows(get(), names.data(), tensors.data(),
                                   static_cast<int>(tensors.size())));
  }

  // Variables that the model changes; they keep their values from run to run.
  std::vector<std::string> variable_names() const {
    std::vector<std::string> names;
    for (int i = 0; i < tenon_session_num_variables(get()); ++i) {
      names.emplace_back(tenon_session_variable_name(get(), i));
    }
    return names;
  }
  Tensor ReadVariable(const std::string& name) const {
    tenon_tensor* value = nullptr;
    Check(tenon_session_read_variable(get(), name.c_str(), &value));
    return Tensor(value);
  }
  void AssignVariable(const std::string& name, const Tensor& value) {
    Check(tenon_session_assign_variable(get(), name.c_str(), value.get()));
  }
  // JSON, see reports.h.
  std::string Report() const {
    tenon_text* text = nullptr;
    Check(tenon_session_report(get(), &text));
    return TakeText(text);
  }
  tenon_memory Memory() const {
    tenon_memory memory = TENON_MEMORY_INIT;
    Check(tenon_session_memory(get(), &memory));
    return memory;
  }
  tenon_session* get() const { return session_.get(); }

 private:
  struct Free {
    void operator()(tenon_session* s) const { tenon_session_free(s); }
  };

  void Call(const std::vector<const tenon_tensor*>& inputs, const char* const* names,
            const std::vector<const char*>& wanted, const RunOptions& options,
            std::vector<tenon_tensor*>& outputs) {
    const tenon_run_options c = options.ToC();
    Check(tenon_session_run_with(get(), &c, names, inputs.data(), static_cast<int>(inputs.size()),
                                 wanted.empty() ? nullptr : wanted.data(), outputs.data(),
                                 static_cast<int>(outputs.size())));
  }
  std::vector<Tensor> Outputs(const std::vector<const tenon_tensor*>& inputs,
                              const char* const* names, const std::vector<const char*>& wanted,
                              const RunOptions& options) {
    const size_t all = static_cast<size_t>(tenon_session_num_outputs(get()));
    std::vector<tenon_tensor*> made(wanted.empty() ? all : wanted.size(), nullptr);
    Call(inputs, names, wanted, options, made);
    std::vector<Tensor> outputs;
    outputs.reserve(made.size());
    for (tenon_tensor* tensor : made) outputs.emplace_back(tensor);
    return outputs;
  }

  std::unique_ptr<tenon_session, Free> session_;
};

// JSON, see reports.h.
inline std::string Devices(const std::string& plugins = "") {
  tenon_text* text = nullptr;
  Check(tenon_devices(plugins.c_str(), &text));
  return TakeText(text);
}

}  // namespace api
}  // namespace tenon

#endif  // TENON_SESSION_HPP_
