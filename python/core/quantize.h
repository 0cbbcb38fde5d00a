// Quantization from Python.
#ifndef TENON_PYTHON_CORE_QUANTIZE_H_
#define TENON_PYTHON_CORE_QUANTIZE_H_

#include <nanobind/nanobind.h>

namespace tenon::python {

void AddQuantize(nanobind::module_& module);

}  // namespace tenon::python

#endif  // TENON_PYTHON_CORE_QUANTIZE_H_
