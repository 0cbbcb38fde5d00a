// Dtypes: their names and how the buffer protocol describes their elements.
#ifndef TENON_PYTHON_CORE_DTYPE_H_
#define TENON_PYTHON_CORE_DTYPE_H_

#include <nanobind/nanobind.h>

#include <cstddef>
#include <string_view>

#include "tenon/tenon.h"

namespace tenon::python {

struct DTypeInfo {
  tenon_dtype dtype;
  const char* name;        // TensorFlow's: "float32", "string"
  const char* format;      // of the struct module; "" for strings
  char kind;               // f: float, i, u: integer, b: bool, c: complex; s: string
  size_t size;             // bytes of an element; 0 for strings
  bool in_buffers = true;  // whether the buffer protocol and NumPy describe the elements
};

// Null if there is none.
const DTypeInfo* FindDType(tenon_dtype dtype);
const DTypeInfo* FindDType(std::string_view name);

// The dtype of a buffer's elements; null if they are none of Tenon's, or in another byte order.
const DTypeInfo* DTypeOfBuffer(const Py_buffer& buffer);
// Whether elements of `given` may be read as `expected`: the same, or of the same kind and size
// (quantized integers); those that are not in_buffers as their bits: bfloat16 as uint16.
bool ReadsAs(const DTypeInfo& given, const DTypeInfo& expected);

}  // namespace tenon::python

#endif  // TENON_PYTHON_CORE_DTYPE_H_
