// Single ops from Python, and the table of them.
#ifndef TENON_PYTHON_CORE_EAGER_H_
#define TENON_PYTHON_CORE_EAGER_H_

#include <nanobind/nanobind.h>

namespace tenon::python {

void AddEager(nanobind::module_& module);

}  // namespace tenon::python

#endif  // TENON_PYTHON_CORE_EAGER_H_
