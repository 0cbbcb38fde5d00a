#include "python/core/dtype.h"

namespace tenon::python {
namespace {

// Those that the buffer protocol describes alike: the plain one first.
constexpr DTypeInfo kDTypes[] = {
    {TENON_FLOAT, "float32", "f", 'f', 4},
    {TENON_DOUBLE, "float64", "d", 'f', 8},
    {TENON_HALF, "float16", "e", 'f', 2},
    {TENON_INT8, "int8", "b", 'i', 1},
    {TENON_INT16, "int16", "h", 'i', 2},
    {TENON_INT32, "int32", "i", 'i', 4},
    {TENON_INT64, "int64", "l", 'i', 8},
    {TENON_UINT8, "uint8", "B", 'u', 1},
    {TENON_UINT16, "uint16", "H", 'u', 2},
    {TENON_UINT32, "uint32", "I", 'u', 4},
    {TENON_UINT64, "uint64", "L", 'u', 8},
    {TENON_BOOL, "bool", "?", 'b', 1},
    {TENON_COMPLEX64, "complex64", "Zf", 'c', 8},
    {TENON_COMPLEX128, "complex128", "Zd", 'c', 16},
    {TENON_BFLOAT16, "bfloat16", "H", 'u', 2, false},
    {TENON_QINT8, "qint8", "b", 'i', 1},
    {TENON_QINT16, "qint16", "h", 'i', 2},
    {TENON_QINT32, "qint32", "i", 'i', 4},
    {TENON_QUINT8, "quint8", "B", 'u', 1},
    {TENON_QUINT16, "quint16", "H", 'u', 2},
    {TENON_FLOAT8_E5M2, "float8_e5m2", "B", 'u', 1, false},
    {TENON_FLOAT8_E4M3FN, "float8_e4m3fn", "B", 'u', 1, false},
    {TENON_INT4, "int4", "b", 'i', 1, false},
    {TENON_UINT4, "uint4", "B", 'u', 1, false},
    {TENON_STRING, "string", "", 's', 0},
};

char KindOf(char format) {
  switch (format) {
    case 'e':
    case 'f':
    case 'd':
      return 'f';
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
    case 'n':
      return 'i';
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
    case 'N':
      return 'u';
    case '?':
      return 'b';
    default:
      return 0;
  }
}

}  // namespace

const DTypeInfo* FindDType(tenon_dtype dtype) {
  for (const DTypeInfo& info : kDTypes) {
    if (info.dtype == dtype) return &info;
  }
  return nullptr;
}

const DTypeInfo* FindDType(std::string_view name) {
  for (const DTypeInfo& info : kDTypes) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

const DTypeInfo* DTypeOfBuffer(const Py_buffer& buffer) {
  // Without a format, the elements are bytes.
  std::string_view format = buffer.format == nullptr ? "B" : buffer.format;
  if (!format.empty() && (format[0] == '@' || format[0] == '=' || format[0] == '<')) {
    format.remove_prefix(1);
  }
  char kind = 0;
  if (format.size() == 2 && format[0] == 'Z' && KindOf(format[1]) == 'f') kind = 'c';
  if (format.size() == 1) kind = KindOf(format[0]);
  for (const DTypeInfo& info : kDTypes) {
    if (info.kind == kind && info.size == static_cast<size_t>(buffer.itemsize)) return &info;
  }
  return nullptr;
}

bool ReadsAs(const DTypeInfo& given, const DTypeInfo& expected) {
  return given.kind == expected.kind && given.size == expected.size && given.kind != 's';
}

}  // namespace tenon::python
