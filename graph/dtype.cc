#include "graph/dtype.h"

namespace tenon {
namespace {

struct DTypeRow {
  DType dtype;
  const char* name;
  size_t size;
};

constexpr DTypeRow kRows[] = {
    {DType::kInvalid, "invalid", 0},
    {DType::kFloat, "float", 4},
    {DType::kDouble, "double", 8},
    {DType::kInt32, "int32", 4},
    {DType::kUint8, "uint8", 1},
    {DType::kInt16, "int16", 2},
    {DType::kInt8, "int8", 1},
    {DType::kString, "string", sizeof(std::string)},
    {DType::kComplex64, "complex64", 8},
    {DType::kInt64, "int64", 8},
    {DType::kBool, "bool", 1},
    {DType::kQint8, "qint8", 1},
    {DType::kQuint8, "quint8", 1},
    {DType::kQint32, "qint32", 4},
    {DType::kBfloat16, "bfloat16", 2},
    {DType::kQint16, "qint16", 2},
    {DType::kQuint16, "quint16", 2},
    {DType::kUint16, "uint16", 2},
    {DType::kComplex128, "complex128", 16},
    {DType::kHalf, "half", 2},
    {DType::kResource, "resource", 0},
    {DType::kVariant, "variant", 0},
    {DType::kUint32, "uint32", 4},
    {DType::kUint64, "uint64", 8},
    {DType::kFloat8E5m2, "float8_e5m2", 1},
    {DType::kFloat8E4m3fn, "float8_e4m3fn", 1},
    {DType::kInvalid, "invalid", 0},  // other formats of float8
    {DType::kInvalid, "invalid", 0},
    {DType::kInvalid, "invalid", 0},
    {DType::kInt4, "int4", 1},
    {DType::kUint4, "uint4", 1},
};

const DTypeRow& Row(DType dtype) {
  const int i = static_cast<int>(dtype);
  const int count = static_cast<int>(sizeof(kRows) / sizeof(kRows[0]));
  return kRows[i >= 0 && i < count ? i : 0];
}

}  // namespace

const char* Name(DType dtype) { return Row(dtype).name; }
size_t SizeOf(DType dtype) { return Row(dtype).size; }
bool IsValid(DType dtype) { return Row(dtype).dtype == dtype && dtype != DType::kInvalid; }

std::optional<DType> DTypeFromName(absl::string_view name) {
  if (name == "float32") return DType::kFloat;
  if (name == "float64") return DType::kDouble;
  if (name == "float16") return DType::kHalf;
  for (const DTypeRow& row : kRows) {
    if (row.dtype != DType::kInvalid && name == row.name) return row.dtype;
  }
  return std::nullopt;
}

bool IsFloating(DType dtype) {
  return dtype == DType::kHalf || dtype == DType::kBfloat16 || dtype == DType::kFloat ||
         dtype == DType::kDouble;
}

bool IsInteger(DType dtype) {
  switch (dtype) {
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32:
    case DType::kInt64:
    case DType::kUint8:
    case DType::kUint16:
    case DType::kUint32:
    case DType::kUint64:
      return true;
    default:
      return false;
  }
}

bool IsComplex(DType dtype) { return dtype == DType::kComplex64 || dtype == DType::kComplex128; }

bool IsQuantized(DType dtype) {
  switch (dtype) {
    case DType::kQint8:
    case DType::kQuint8:
    case DType::kQint16:
    case DType::kQuint16:
    case DType::kQint32:
      return true;
    default:
      return false;
  }
}

}  // namespace tenon
