// tenon._core: what the package `tenon` stands on, over the C interface.
#include <nanobind/nanobind.h>

#include "python/core/eager.h"
#include "python/core/session.h"
#include "python/core/status.h"
#include "python/core/tensor.h"
#include "tenon/tenon.h"

namespace nb = nanobind;

NB_MODULE(_core, module) {
  // Models and tensors may live as long as the interpreter, in a caller's module.
  nb::set_leak_warnings(false);
  module.attr("version") = tenon_version();
  tenon::python::AddErrors();
  tenon::python::AddTensor(module);
  tenon::python::AddSession(module);
  tenon::python::AddEager(module);
}
