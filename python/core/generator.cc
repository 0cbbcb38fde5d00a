// The Python class Generator: tenon_generator.
#include "python/core/generator.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "python/core/feed.h"
#include "python/core/limits.h"
#include "python/core/session.h"
#include "python/core/status.h"
#include "python/core/tensor.h"
#include "tenon/tenon.h"

namespace nb = nanobind;

namespace tenon::python {
namespace {

struct FreeGenerator {
  void operator()(tenon_generator* generator) const { tenon_generator_free(generator); }
};

// The dtype of an input; null: not known.
const DTypeInfo* InputDType(const tenon_session* session, const std::string& name) {
  for (int i = 0; i < tenon_session_num_inputs(session); ++i) {
    if (tenon_session_input_name(session, i) != name) continue;
    return FindDType(tenon_session_input_dtype(session, i));
  }
  return nullptr;
}

// A tensor that shares no memory with the caller's arrays; null for strings, which never do.
OwnedTensor Copy(const tenon_tensor* tensor) {
  if (FindDType(tenon_tensor_dtype(tensor))->size == 0) return nullptr;
  tenon_tensor* copy = nullptr;
  Check(tenon_tensor_create(tenon_tensor_dtype(tensor), tenon_tensor_dims(tensor),
                            tenon_tensor_rank(tensor), &copy));
  if (const size_t bytes = tenon_tensor_bytes(tensor); bytes > 0) {
    std::memcpy(tenon_tensor_data(copy), tenon_tensor_data(const_cast<tenon_tensor*>(tensor)),
                bytes);
  }
  return OwnedTensor(copy);
}

class Generator {
 public:
  Generator(nb::object session, const std::optional<std::string>& tokens,
            const std::optional<std::string>& position, const std::optional<std::string>& logits,
            double temperature, int64_t top_k, double top_p, uint64_t seed)
      : owner_(std::move(session)), session_(OpenSession(owner_)) {
    const auto given = [](const std::optional<std::string>& name) {
      return name.has_value() ? name->c_str() : nullptr;
    };
    const tenon_generator_options options = {sizeof(tenon_generator_options),
                                             given(tokens),
                                             given(position),
                                             given(logits),
                                             temperature,
                                             top_k,
                                             top_p,
                                             seed};
    tenon_generator* generator = nullptr;
    tenon_status* status = nullptr;
    {
      nb::gil_scoped_release release;
      status = tenon_generator_create(session_.get(), &options, &generator);
    }
    Check(status);
    generator_.reset(generator);
  }

  void SetInput(const std::string& name, nb::handle value, bool cast) {
    const Feed feed =
        MakeFeed(value, InputDType(session_.get(), name), nb::str(name.c_str()), cast);
    if (feed.tensor == nullptr) {
      throw StatusError(TENON_INVALID_ARGUMENT, "input '" + name + "' needs a value, not None");
    }
    const OwnedTensor copy = Copy(feed.tensor);
    const Turn turn(*this);
    Check(tenon_generator_set_input(generator_.get(), name.c_str(),
                                    copy == nullptr ? feed.tensor : copy.get()));
  }

  void Prompt(const std::vector<int64_t>& tokens, std::optional<double> timeout) {
    const Turn turn(*this);
    RunWithLimits(timeout, nullptr, [&](const tenon_run_options& limits) {
      tenon_status* const status = tenon_generator_set_limits(generator_.get(), &limits);
      if (status != nullptr) return status;
      return tenon_generator_prompt(generator_.get(), tokens.data(), tokens.size());
    });
  }

  int64_t Next(std::optional<double> timeout) {
    const Turn turn(*this);
    int64_t token = 0;
    RunWithLimits(timeout, nullptr, [&](const tenon_run_options& limits) {
      tenon_status* const status = tenon_generator_set_limits(generator_.get(), &limits);
      if (status != nullptr) return status;
      return tenon_generator_next(generator_.get(), &token);
    });
    return token;
  }

  void Reset() {
    const Turn turn(*this);
    tenon_status* status = nullptr;
    {
      nb::gil_scoped_release release;
      status = tenon_generator_reset(generator_.get());
    }
    Check(status);
  }

 private:
  // One call of an open model. The GIL guards `busy_`, which stays set while a call is without it.
  class Turn {
   public:
    explicit Turn(Generator& generator) : generator_(generator) {
      OpenSession(generator.owner_);  // throws if it is closed
      if (generator.busy_) {
        throw StatusError(TENON_FAILED_PRECONDITION,
                          "the generator is already running, in another thread");
      }
      generator.busy_ = true;
    }
    ~Turn() { generator_.busy_ = false; }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Generator& generator_;
  };

  nb::object owner_;  // the Python Session
  std::shared_ptr<tenon_session> session_;
  std::unique_ptr<tenon_generator, FreeGenerator> generator_;  // before its session
  bool busy_ = false;
};

}  // namespace

void AddGenerator(nb::module_& module) {
  nb::class_<Generator>(module, "Generator")
      .def(nb::init<nb::object, std::optional<std::string>, std::optional<std::string>,
                    std::optional<std::string>, double, int64_t, double, uint64_t>(),
           nb::arg("session"), nb::arg("tokens").none(), nb::arg("position").none(),
           nb::arg("logits").none(), nb::arg("temperature"), nb::arg("top_k"), nb::arg("top_p"),
           nb::arg("seed"))
      .def("set_input", &Generator::SetInput, nb::arg("name"), nb::arg("value").none(),
           nb::arg("cast"))
      .def("prompt", &Generator::Prompt, nb::arg("tokens"), nb::arg("timeout") = nb::none())
      .def("next", &Generator::Next, nb::arg("timeout") = nb::none())
      .def("reset", &Generator::Reset);
}

}  // namespace tenon::python
