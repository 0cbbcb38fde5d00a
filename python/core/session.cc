// The Python class Session: tenon_session.
#include "python/core/session.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "python/core/feed.h"
#include "python/core/inspect.h"
#include "python/core/limits.h"
#include "python/core/options.h"
#include "python/core/reports.h"
#include "python/core/status.h"
#include "python/core/tensor.h"

namespace nb = nanobind;

namespace tenon::python {
namespace {

// A string object that dictionaries find by its address.
nb::object Interned(const char* text) {
  PyObject* object =
      PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(std::strlen(text)), "replace");
  if (object == nullptr) nb::raise_python_error();
  PyUnicode_InternInPlace(&object);
  return nb::steal(object);
}

class Session {
 public:
  // `source`: a path, or the bytes of a model.
  Session(nb::handle source, nb::dict given) {
    Options texts(given);
    const tenon_session_options options = texts.OfSession();
    tenon_session* session = nullptr;
    tenon_status* status = nullptr;
    if (nb::isinstance<nb::bytes>(source)) {
      const OwnedModel model = OpenModel(source);
      nb::gil_scoped_release release;
      status = tenon_session_create_from_model(model.get(), &options, &session);
    } else {
      const std::string path = nb::cast<std::string>(source);
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
      outputs_.push_back({Interned(tenon_session_output_name(session, i)),
                          FindDType(tenon_session_output_dtype(session, i))});
    }
  }

  // The session ends with its last run and its last generator.
  void Close() {
    std::shared_ptr<tenon_session> last = std::move(session_);
    session_ = nullptr;
    nb::gil_scoped_release release;
    last = nullptr;
  }
  bool closed() const { return session_ == nullptr; }
  std::shared_ptr<tenon_session> Open() const {
    if (session_ == nullptr) throw StatusError(TENON_FAILED_PRECONDITION, "the model is closed");
    return session_;
  }

  nb::dict Run(nb::tuple args, nb::dict kwargs, bool cast, std::optional<double> timeout,
               const Cancel* cancel, nb::object out);

  std::string Profile(nb::tuple args, nb::dict kwargs, bool cast, int runs) const;
  // `feed`: None, or the inputs by name.
  std::string ExplorePage(nb::handle source, nb::dict options, nb::object feed, bool cast,
                          double seconds, nb::handle second, nb::object second_options) const;
  std::string Report() const { return python::Report(Open().get()); }

  nb::list Inputs() const { return Specs(inputs_.size(), tenon_session_input); }
  nb::list Outputs() const { return Specs(outputs_.size(), tenon_session_output); }

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
  struct Named {
    nb::object name;
    const DTypeInfo* dtype;  // null: not known
  };
  using Feeds = absl::InlinedVector<Feed, 4>;
  using Pointers = absl::InlinedVector<tenon_tensor*, 4>;

  nb::list Specs(size_t count,
                 tenon_status* (*get)(const tenon_session*, int, tenon_tensor_spec*)) const {
    const std::shared_ptr<tenon_session> session = Open();
    nb::list specs;
    for (size_t i = 0; i < count; ++i) {
      tenon_tensor_spec spec = TENON_TENSOR_SPEC_INIT;
      Check(get(session.get(), static_cast<int>(i), &spec));
      specs.append(SpecTuple(spec));
    }
    return specs;
  }
  // The index in `all`; `what` is "input" or "output".
  static size_t IndexOf(const std::vector<Named>& all, nb::handle name, const char* what);
  void TakeNamed(nb::dict feeds, bool cast, Feeds& in) const;
  Feeds Arrange(nb::tuple args, nb::dict kwargs, bool cast) const;
  // Views of the caller's arrays, where `out` has them.
  void PlaceOutputs(nb::dict out, std::vector<OwnedTensor>& views, Pointers& outputs) const;

  std::shared_ptr<tenon_session> session_;
  std::vector<Named> inputs_;
  std::vector<Named> outputs_;
};

// "x" for "x:0", the names of one tensor.
std::string WithoutPortZero(nb::handle name) {
  std::string text = nb::isinstance<nb::str>(name) ? nb::cast<std::string>(name) : "";
  if (text.ends_with(":0")) text.resize(text.size() - 2);
  return text;
}

size_t Session::IndexOf(const std::vector<Named>& all, nb::handle name, const char* what) {
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].name.is(name)) return i;
  }
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].name.equal(name)) return i;
  }
  const std::string wanted = WithoutPortZero(name);
  for (size_t i = 0; i < all.size(); ++i) {
    if (!wanted.empty() && WithoutPortZero(all[i].name) == wanted) return i;
  }
  std::string message = std::string("there is no ") + what + " " + nb::repr(name).c_str();
  message += std::string("; the model's ") + what + "s are";
  for (const Named& named : all) {
    message += named.name.is(all[0].name) ? " " : ", ";
    message += nb::repr(named.name).c_str();
  }
  throw StatusError(TENON_INVALID_ARGUMENT, message);
}

void Session::TakeNamed(nb::dict feeds, bool cast, Feeds& in) const {
  for (const auto& [name, value] : feeds) {
    const size_t i = IndexOf(inputs_, name, "input");
    if (in[i].tensor != nullptr) {
      throw StatusError(TENON_INVALID_ARGUMENT,
                        std::string("input ") + nb::repr(name).c_str() + " is given twice");
    }
    in[i] = MakeFeed(value, inputs_[i].dtype, inputs_[i].name, cast);
  }
}

void Session::PlaceOutputs(nb::dict out, std::vector<OwnedTensor>& views, Pointers& outputs) const {
  for (const auto& [name, array] : out) {
    const size_t i = IndexOf(outputs_, name, "output");
    bool read_only = false;
    views.push_back(ViewBuffer(array, outputs_[i].dtype, read_only));
    if (views.back() == nullptr || read_only) {
      const std::string dtype = outputs_[i].dtype == nullptr ? "" : outputs_[i].dtype->name;
      throw nb::type_error((std::string("output ") + nb::repr(name).c_str() +
                            " needs a writable, C-contiguous array of dtype " + dtype)
                               .c_str());
    }
    outputs[i] = views.back().get();
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

std::string Session::Profile(nb::tuple args, nb::dict kwargs, bool cast, int runs) const {
  const std::shared_ptr<tenon_session> session = Open();
  const Feeds in = Arrange(args, kwargs, cast);
  absl::InlinedVector<const tenon_tensor*, 4> inputs;
  for (const Feed& feed : in) inputs.push_back(feed.tensor);
  return python::Profile(session.get(), inputs, runs);
}

std::string Session::ExplorePage(nb::handle source, nb::dict options, nb::object feed, bool cast,
                                 double seconds, nb::handle second,
                                 nb::object second_options) const {
  const std::shared_ptr<tenon_session> session = Open();
  Feeds in;
  if (!feed.is_none()) in = Arrange(nb::make_tuple(feed), nb::dict(), cast);
  absl::InlinedVector<const tenon_tensor*, 4> inputs;
  for (const Feed& f : in) inputs.push_back(f.tensor);
  return python::ExplorePage(source, options, inputs, seconds, second, second_options);
}

nb::dict Session::Run(nb::tuple args, nb::dict kwargs, bool cast, std::optional<double> timeout,
                      const Cancel* cancel, nb::object out) {
  const std::shared_ptr<tenon_session> session = Open();
  const Feeds in = Arrange(args, kwargs, cast);
  absl::InlinedVector<const tenon_tensor*, 4> inputs;
  for (const Feed& feed : in) inputs.push_back(feed.tensor);
  Pointers outputs(outputs_.size(), nullptr);
  std::vector<OwnedTensor> views;  // of the caller's arrays
  if (!out.is_none()) PlaceOutputs(nb::cast<nb::dict>(out), views, outputs);
  const Pointers placed = outputs;

  absl::InlinedVector<OwnedTensor, 4> owned;
  RunWithLimits(timeout, cancel, [&](const tenon_run_options& options) {
    tenon_status* const status = tenon_session_run_with(
        session.get(), &options, nullptr, inputs.data(), static_cast<int>(inputs.size()), nullptr,
        outputs.data(), static_cast<int>(outputs.size()));
    for (size_t i = 0; i < outputs.size(); ++i) {
      owned.emplace_back(placed[i] == nullptr ? outputs[i] : nullptr);
    }
    return status;
  });
  nb::dict results;
  for (size_t i = 0; i < owned.size(); ++i) {
    const nb::object& name = outputs_[i].name;
    results[name] = owned[i] == nullptr ? nb::object(out[name]) : ToNumpy(std::move(owned[i]));
  }
  return results;
}

}  // namespace

std::shared_ptr<tenon_session> OpenSession(nb::handle session) {
  return nb::cast<const Session&>(session).Open();
}

void AddSession(nb::module_& module) {
  nb::class_<Cancel>(module, "Cancel").def(nb::init<>()).def("request", &Cancel::Request);
  nb::class_<Session>(module, "Session")
      .def(nb::init<nb::handle, nb::dict>(), nb::arg("source"), nb::arg("options"))
      .def("run", &Session::Run, nb::arg("args"), nb::arg("kwargs"), nb::arg("cast"),
           nb::arg("timeout") = nb::none(), nb::arg("cancel") = nb::none(),
           nb::arg("out") = nb::none())
      .def("profile", &Session::Profile, nb::arg("args"), nb::arg("kwargs"), nb::arg("cast"),
           nb::arg("runs"))
      .def("explore_page", &Session::ExplorePage, nb::arg("source"), nb::arg("options"),
           nb::arg("feed").none(), nb::arg("cast"), nb::arg("seconds"), nb::arg("second").none(),
           nb::arg("second_options").none())
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
