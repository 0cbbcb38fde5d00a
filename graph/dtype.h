// Element types, numbered as in TensorFlow's DataType.
#ifndef TENON_GRAPH_DTYPE_H_
#define TENON_GRAPH_DTYPE_H_

#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace Eigen {
struct half;
struct bfloat16;
}  // namespace Eigen

namespace tenon {

using half = Eigen::half;          // to use values, include <Eigen/Core>
using bfloat16 = Eigen::bfloat16;  // likewise

enum class DType : int {
  kInvalid = 0,
  kFloat = 1,
  kDouble = 2,
  kInt32 = 3,
  kUint8 = 4,
  kInt16 = 5,
  kInt8 = 6,
  kString = 7,
  kComplex64 = 8,
  kInt64 = 9,
  kBool = 10,
  kQint8 = 11,
  kQuint8 = 12,
  kQint32 = 13,
  kBfloat16 = 14,
  kQint16 = 15,
  kQuint16 = 16,
  kUint16 = 17,
  kComplex128 = 18,
  kHalf = 19,
  kResource = 20,
  kVariant = 21,
  kUint32 = 22,
  kUint64 = 23,
  kFloat8E5m2 = 24,  // these four: graph/small_numbers.h
  kFloat8E4m3fn = 25,
  kInt4 = 29,
  kUint4 = 30,
};

// TensorFlow's name: "float", "int32", "bfloat16" ...; "invalid" for a number that is no dtype.
const char* Name(DType dtype);
std::optional<DType> DTypeFromName(absl::string_view name);
bool IsValid(DType dtype);

// Bytes of one element in memory; strings are std::string objects. 0 for resource, variant,
// invalid.
size_t SizeOf(DType dtype);

bool IsFloating(DType dtype);  // half, bfloat16, float, double
bool IsInteger(DType dtype);   // signed and unsigned, not quantized
bool IsComplex(DType dtype);
bool IsQuantized(DType dtype);

template <typename T>
struct DTypeTraits;
template <>
struct DTypeTraits<float> {
  static constexpr DType value = DType::kFloat;
};
template <>
struct DTypeTraits<double> {
  static constexpr DType value = DType::kDouble;
};
template <>
struct DTypeTraits<int32_t> {
  static constexpr DType value = DType::kInt32;
};
template <>
struct DTypeTraits<uint8_t> {
  static constexpr DType value = DType::kUint8;
};
template <>
struct DTypeTraits<int16_t> {
  static constexpr DType value = DType::kInt16;
};
template <>
struct DTypeTraits<int8_t> {
  static constexpr DType value = DType::kInt8;
};
template <>
struct DTypeTraits<std::string> {
  static constexpr DType value = DType::kString;
};
template <>
struct DTypeTraits<std::complex<float>> {
  static constexpr DType value = DType::kComplex64;
};
template <>
struct DTypeTraits<int64_t> {
  static constexpr DType value = DType::kInt64;
};
template <>
struct DTypeTraits<bool> {
  static constexpr DType value = DType::kBool;
};
template <>
struct DTypeTraits<bfloat16> {
  static constexpr DType value = DType::kBfloat16;
};
template <>
struct DTypeTraits<uint16_t> {
  static constexpr DType value = DType::kUint16;
};
template <>
struct DTypeTraits<std::complex<double>> {
  static constexpr DType value = DType::kComplex128;
};
template <>
struct DTypeTraits<half> {
  static constexpr DType value = DType::kHalf;
};
template <>
struct DTypeTraits<uint32_t> {
  static constexpr DType value = DType::kUint32;
};
template <>
struct DTypeTraits<uint64_t> {
  static constexpr DType value = DType::kUint64;
};

}  // namespace tenon

#endif  // TENON_GRAPH_DTYPE_H_
