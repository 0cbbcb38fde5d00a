#include "python/core/quantize.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "python/core/inspect.h"
#include "python/core/reports.h"
#include "python/core/status.h"
#include "python/core/tensor.h"
#include "tenon/tenon.h"

namespace nb = nanobind;

namespace tenon::python {
namespace {

// The function to tell, and its first error: after that it is told no more.
struct Listener {
  nb::object function;
  std::optional<nb::python_error> error;
};

void OnProgress(void* argument, const char* stage, int64_t done, int64_t total) {
  const nb::gil_scoped_acquire acquire;
  Listener& listener = *static_cast<Listener*>(argument);
  if (listener.error.has_value()) return;
  try {
    listener.function(stage, done, total);
  } catch (nb::python_error& error) {
    listener.error.emplace(std::move(error));
  }
}

// The values of `options`, where it has them.
class Values {
 public:
  explicit Values(nb::dict options) : options_(options) {}
  template <typename T>
  void Get(const char* name, T& value) {
    if (options_.contains(name)) value = nb::cast<T>(nb::object(options_[name]));
  }
  void Get(const char* name, const char*& value) {
    if (!options_.contains(name) || nb::object(options_[name]).is_none()) return;
    value = texts_.emplace_back(nb::cast<std::string>(nb::object(options_[name]))).c_str();
  }
  void GetBool(const char* name, int& value) {
    if (options_.contains(name)) value = nb::cast<bool>(nb::object(options_[name])) ? 1 : 0;
  }

 private:
  nb::dict options_;
  std::deque<std::string> texts_;
};

// Returns the report, JSON. `samples`: tensors by name.
std::string Quantize(nb::handle source, const std::string& output, nb::dict samples,
                     nb::dict load_options, nb::dict options, nb::object progress) {
  Values load_values(load_options), values(options);
  tenon_session_options load = TENON_SESSION_OPTIONS_INIT;
  load_values.Get("signature", load.signature);
  load_values.Get("fetches", load.fetches);
  load_values.Get("threads", load.threads);
  tenon_quantize_options how = TENON_QUANTIZE_OPTIONS_INIT;
  values.Get("weights", how.weights);
  values.Get("keep", how.keep);
  values.Get("batch", how.batch);
  values.Get("method", how.method);
  values.Get("percentile", how.percentile);
  values.Get("max_error", how.max_error);
  values.GetBool("equalize", how.equalize);
  values.GetBool("keep_first", how.keep_first);
  values.GetBool("keep_last", how.keep_last);
  values.Get("labels", how.labels);
  values.Get("group", how.group);
  values.Get("scales", how.scales);
  values.GetBool("zero_points", how.zero_points);
  values.GetBool("embeddings", how.embeddings);
  values.Get("least_weights", how.least_weights);
  Listener listener{progress, std::nullopt};
  if (!progress.is_none()) {
    how.progress = OnProgress;
    how.argument = &listener;
  }
  std::deque<std::string> names;
  std::vector<const char*> sample_names;
  std::vector<const tenon_tensor*> tensors;
  for (const auto& [name, tensor] : samples) {
    sample_names.push_back(names.emplace_back(nb::cast<std::string>(name)).c_str());
    tensors.push_back(nb::cast<const Tensor&>(tensor).get());
  }
  const OwnedModel model = OpenModel(source);
  tenon_text* report = nullptr;
  tenon_status* status = nullptr;
  {
    nb::gil_scoped_release release;
    status = tenon_quantize(model.get(), &load, &how, sample_names.data(), tensors.data(),
                            static_cast<int>(tensors.size()), output.c_str(), &report);
  }
  const std::string text = report == nullptr ? std::string() : TakeText(report);
  if (listener.error.has_value()) {
    tenon_status_free(status);
    throw nb::python_error(std::move(*listener.error));
  }
  Check(status);
  return text;
}

}  // namespace

void AddQuantize(nb::module_& module) {
  module.def("quantize", Quantize, nb::arg("source"), nb::arg("output"), nb::arg("samples"),
             nb::arg("load_options"), nb::arg("options"), nb::arg("progress").none());
}

}  // namespace tenon::python
