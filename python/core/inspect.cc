#include "python/core/inspect.h"

#include <cstring>

#include "python/core/dtype.h"
#include "python/core/status.h"

namespace nb = nanobind;

namespace tenon::python {
namespace {

nb::object Text(const char* text) {
  return nb::steal(
      PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(std::strlen(text)), "replace"));
}

using GetSpec = tenon_status* (*)(const tenon_model*, int, int, tenon_tensor_spec*);

nb::list Specs(const tenon_model* model, int signature, int count, GetSpec get) {
  nb::list specs;
  for (int i = 0; i < count; ++i) {
    tenon_tensor_spec spec = TENON_TENSOR_SPEC_INIT;
    Check(get(model, signature, i, &spec));
    specs.append(SpecTuple(spec));
  }
  return specs;
}

// (name, method, inputs, outputs) for each signature.
nb::list Inspect(nb::handle source) {
  const OwnedModel model = OpenModel(source);
  nb::list signatures;
  for (int i = 0; i < tenon_model_num_signatures(model.get()); ++i) {
    const char* const method = tenon_model_signature_method(model.get(), i);
    signatures.append(nb::make_tuple(
        Text(tenon_model_signature_name(model.get(), i)), Text(method == nullptr ? "" : method),
        Specs(model.get(), i, tenon_model_num_inputs(model.get(), i), tenon_model_input),
        Specs(model.get(), i, tenon_model_num_outputs(model.get(), i), tenon_model_output)));
  }
  return signatures;
}

}  // namespace

OwnedModel OpenModel(nb::handle source) {
  tenon_model* model = nullptr;
  tenon_status* status = nullptr;
  if (nb::isinstance<nb::bytes>(source)) {
    const nb::bytes bytes = nb::borrow<nb::bytes>(source);
    nb::gil_scoped_release release;
    status = tenon_model_parse(bytes.data(), bytes.size(), &model);
  } else {
    const nb::str path = nb::cast<nb::str>(source);
    const char* const text = path.c_str();
    nb::gil_scoped_release release;
    status = tenon_model_open(text, &model);
  }
  Check(status);
  return OwnedModel(model);
}

nb::tuple SpecTuple(const tenon_tensor_spec& spec) {
  nb::object shape = nb::none();
  if (spec.rank >= 0) {
    nb::list dims;
    for (int d = 0; d < spec.rank; ++d) dims.append(spec.dims[d]);
    shape = nb::tuple(dims);
  }
  const DTypeInfo* const dtype = FindDType(spec.dtype);
  return nb::make_tuple(Text(spec.name), dtype == nullptr ? "" : dtype->name, shape,
                        spec.optional != 0);
}

void AddInspect(nb::module_& module) { module.def("inspect", Inspect, nb::arg("source")); }

}  // namespace tenon::python
