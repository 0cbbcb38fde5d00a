// Descriptions of models and their tensors.
#ifndef TENON_PYTHON_CORE_INSPECT_H_
#define TENON_PYTHON_CORE_INSPECT_H_

#include <nanobind/nanobind.h>

#include <memory>
#include <string>

#include "tenon/tenon.h"

namespace tenon::python {

struct FreeModel {
  void operator()(tenon_model* model) const { tenon_model_free(model); }
};
using OwnedModel = std::unique_ptr<tenon_model, FreeModel>;

// `source`: a str, the path; or bytes, which must outlive the model. Needs the
// GIL, and releases it.
OwnedModel OpenModel(nanobind::handle source);

// (name, dtype or "", shape or None, optional)
nanobind::tuple SpecTuple(const tenon_tensor_spec& spec);

void AddInspect(nanobind::module_& module);

}  // namespace tenon::python

#endif  // TENON_PYTHON_CORE_INSPECT_H_
