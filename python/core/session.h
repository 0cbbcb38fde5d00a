// The Python class Session.
#ifndef TENON_PYTHON_CORE_SESSION_H_
#define TENON_PYTHON_CORE_SESSION_H_

#include <nanobind/nanobind.h>

namespace tenon::python {

void AddSession(nanobind::module_& module);

}  // namespace tenon::python

#endif  // TENON_PYTHON_CORE_SESSION_H_
