// The Python class Session: tenon_session.
#include "python/core/session.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "python/core/feed.h"
#include "python/core/reports.h"
#include "python/core/status.h"
#include "python/core/tensor.h"

namespace nb = nanobind;

namespace tenon::python {
namespace {

// A string object that dictionaries find by its address.
nb::object Interned(const char* text) {
  PyObject* object = PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(strlen(text)), "replace");
  if (object == nullptr) nb::raise_python_error();
  PyUnicode_InternInPlace(&object);
  return nb::steal(object);
}

const char* CStringOrNull(const std::optional<std::string>& text) {
  return text.has_value() ? text->c_str() : nullptr;
}

class Session {
 public:
  Session(const std::string& path, const std::optional<std::string>& signature, int threads,
          int onednn_opts, const std::optional<std::string>& fetches,
          const std::optional<std::string>& cache_dir, const std::optional<std::string>& plugins,
          const std::optional<std::string>& device) {
    tenon_session_options options = TENON_SESSION_OPTIONS_INIT;
    options.threads = threads;
    options.onednn_opts = onednn_opts;
    options.signature = CStringOrNull(signature);
    options.fetches = CStringOrNull(fetches);
    options.cache_dir = CStringOrNull(cache_dir);
    options.plugins = CStringOrNull(plugins);
    options.device = CStringOrNull(device);
    tenon_session* session = nullptr;
    tenon_status* status = nullptr;
    {
      nb::gil_scoped_release release;
      status = tenon_session_create(path.c_str(), &options, &session);
    }
    Check(status);
    session_ = std::shared_ptr<tenon_session>(session, tenon_session_free);
    for (int i = 0; i < tenon_session_num_inputs(session); ++i) {
      inputs_.push_back({Interned(tenon_session_input_name(session, i)),
                         FindDType(tenon_session_input_dtype(session, i))});
    }
    for (int i = 0; i < tenon_session_num_outputs(session); ++i) {
      outputs_.push_back(Interned(tenon_session_output_name(session, i)));
    }
  }

  // The session ends with its last run.
  void Close() {
    std::shared_ptr<tenon_session> last = std::move(session_);
    session_ = nullptr;
    nb::gil_scoped_release release;
    last = nullptr;
  }
  bool closed() const { return session_ == nullptr; }

  nb::dict Run(nb::tuple args, nb::dict kwargs, bool cast);

  nb::dict Profile(nb::tuple args, nb::dict kwargs, bool cast, int runs) const;
  nb::dict Memory() const { return python::Memory(Open().get()); }
  nb::dict Report() const { return python::Report(Open().get()); }

  nb::list Inputs() const {
    const std::shared_ptr<tenon_session> session = Open();
    nb::list specs;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const int64_t* dims = nullptr;
      const int rank = tenon_session_input_shape(session.get(), static_cast<int>(i), &dims);
      nb::object shape = nb::none();
      if (rank >= 0) {
        nb::list list;
        for (int d = 0; d < rank; ++d) list.append(dims[d]);
        shape = nb::tuple(list);
      }
      const DTypeInfo* const dtype = inputs_[i].dtype;
      specs.append(nb::make_tuple(inputs_[i].name, dtype == nullptr ? "" : dtype->name, shape));
    }
    return specs;
  }
  nb::list Outputs() const {
    nb::list specs;
    for (const nb::object& name : outputs_) specs.append(nb::make_tuple(name, "", nb::none()));
    return specs;
  }

  nb::list VariableNames() const {
    const std::shared_ptr<tenon_session> session = Open();
    nb::list names;
    for (int i = 0; i < tenon_session_num_variables(session.get()); ++i) {
      names.append(Interned(tenon_session_variable_name(session.get(), i)));
    }
    return names;
  }
  nb::object ReadVariable(const std::string& name) const {
    const std::shared_ptr<tenon_session> session = Open();
    tenon_tensor* value = nullptr;
    Check(tenon_session_read_variable(session.get(), name.c_str(), &value));
    return ToNumpy(OwnedTensor(value));
  }
  void AssignVariable(const std::string& name, nb::handle value, bool cast) const {
    const std::shared_ptr<tenon_session> session = Open();
    // Its value, if it has one, says which dtype it expects.
    tenon_tensor* old = nullptr;
    tenon_status* const status = tenon_session_read_variable(session.get(), name.c_str(), &old);
    if (tenon_status_code(status) == TENON_NOT_FOUND) Check(status);
    tenon_status_free(status);
    const OwnedTensor owned(old);
    const DTypeInfo* const dtype = old == nullptr ? nullptr : FindDType(tenon_tensor_dtype(old));
    const Feed feed = MakeFeed(value, dtype, nb::str(name.c_str()), cast);
    Check(tenon_session_assign_variable(session.get(), name.c_str(), feed.tensor));
  }

 private:
  struct Input {
    nb::object name;
    const DTypeInfo* dtype;  // null: not known
  };
  using Feeds = absl::InlinedVector<Feed, 4>;

  std::shared_ptr<tenon_session> Open() const {
    if (session_ == nullptr) throw StatusError(TENON_FAILED_PRECONDITION, "the model is closed");
    return session_;
  }
  size_t IndexOf(nb::handle name) const;
  void TakeNamed(nb::dict feeds, bool cast, Feeds& in) const;
  Feeds Arrange(nb::tuple args, nb::dict kwargs, bool cast) const;

  std::shared_ptr<tenon_session> session_;
  std::vector<Input> inputs_;
  std::vector<nb::object> outputs_;
};

size_t Session::IndexOf(nb::handle name) const {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].name.is(name)) return i;
  }
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].name.equal(name)) return i;
  }
  std::string message = "there is no input ";
  message += nb::repr(name).c_str();
  message += "; the model takes";
  for (const Input& input : inputs_) {
    message += input.name.is(inputs_[0].name) ? " " : ", ";
    message += nb::repr(input.name).c_str();
  }
  throw StatusError(TENON_INVALID_ARGUMENT, message);
}

void Session::TakeNamed(nb::dict feeds, bool cast, Feeds& in) const {
  for (const auto& [name, value] : feeds) {
    const size_t i = IndexOf(name);
    if (in[i].tensor != nullptr) {
      throw StatusError(TENON_INVALID_ARGUMENT,
                        std::string("input ") + nb::repr(name).c_str() + " is given twice");
    }
    in[i] = MakeFeed(value, inputs_[i].dtype, inputs_[i].name, cast);
  }
}

Session::Feeds Session::Arrange(nb::tuple args, nb::dict kwargs, bool cast) const {
  Feeds in(inputs_.size());
  if (args.size() == 1 && PyDict_Check(args[0].ptr())) {
    TakeNamed(nb::borrow<nb::dict>(args[0]), cast, in);
  } else {
    if (args.size() > inputs_.size()) {
      throw StatusError(TENON_INVALID_ARGUMENT,
                        "the model takes " + std::to_string(inputs_.size()) + " inputs, but " +
                            std::to_string(args.size()) + " were given");
    }
    for (size_t i = 0; i < args.size(); ++i) {
      in[i] = MakeFeed(args[i], inputs_[i].dtype, inputs_[i].name, cast);
    }
  }
  if (kwargs.size() != 0) TakeNamed(kwargs, cast, in);
  return in;
}

nb::dict Session::Profile(nb::tuple args, nb::dict kwargs, bool cast, int runs) const {
  const std::shared_ptr<tenon_session> session = Open();
  const Feeds in = Arrange(args, kwargs, cast);
  absl::InlinedVector<const tenon_tensor*, 4> inputs;
  for (const Feed& feed : in) inputs.push_back(feed.tensor);
  return python::Profile(session.get(), inputs, runs);
}

nb::dict Session::Run(nb::tuple args, nb::dict kwargs, bool cast) {
  const std::shared_ptr<tenon_session> session = Open();
  const Feeds in = Arrange(args, kwargs, cast);
  absl::InlinedVector<const tenon_tensor*, 4> inputs;
  for (const Feed& feed : in) inputs.push_back(feed.tensor);
  absl::InlinedVector<tenon_tensor*, 4> outputs(outputs_.size(), nullptr);
  tenon_status* status = nullptr;
  {
    nb::gil_scoped_release release;
    status = tenon_session_run(session.get(), inputs.data(), static_cast<int>(inputs.size()),
                               outputs.data(), static_cast<int>(outputs.size()));
  }
  Check(status);
  absl::InlinedVector<OwnedTensor, 4> owned;
  for (tenon_tensor* tensor : outputs) owned.emplace_back(tensor);
  nb::dict results;
  for (size_t i = 0; i < owned.size(); ++i) results[outputs_[i]] = ToNumpy(std::move(owned[i]));
  return results;
}

}  // namespace

void AddSession(nb::module_& module) {
  nb::class_<Session>(module, "Session")
      .def(nb::init<const std::string&, const std::optional<std::string>&, int, int,
                    const std::optional<std::string>&, const std::optional<std::string>&,
                    const std::optional<std::string>&, const std::optional<std::string>&>(),
           nb::arg("path"), nb::arg("signature").none(), nb::arg("threads"), nb::arg("onednn_opts"),
           nb::arg("fetches").none(), nb::arg("cache_dir").none(), nb::arg("plugins").none(),
           nb::arg("device").none())
      .def("run", &Session::Run, nb::arg("args"), nb::arg("kwargs"), nb::arg("cast"))
      .def("profile", &Session::Profile, nb::arg("args"), nb::arg("kwargs"), nb::arg("cast"),
           nb::arg("runs"))
      .def("memory", &Session::Memory)
      .def("report", &Session::Report)
      .def("inputs", &Session::Inputs)
      .def("outputs", &Session::Outputs)
      .def("close", &Session::Close)
      .def_prop_ro("closed", &Session::closed)
      .def("variable_names", &Session::VariableNames)
      .def("read_variable", &Session::ReadVariable, nb::arg("name"))
      .def("assign_variable", &Session::AssignVariable, nb::arg("name"), nb::arg("value"),
           nb::arg("cast"));
}

}  // namespace tenon::python
