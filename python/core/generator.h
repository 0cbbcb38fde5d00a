// The Python class Generator.
#ifndef TENON_PYTHON_CORE_GENERATOR_H_
#define TENON_PYTHON_CORE_GENERATOR_H_

#include <nanobind/nanobind.h>

namespace tenon::python {

void AddGenerator(nanobind::module_& module);

}  // namespace tenon::python

#endif  // TENON_PYTHON_CORE_GENERATOR_H_
