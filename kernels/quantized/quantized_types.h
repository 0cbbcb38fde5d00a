// The integer types of quantized dtypes' elements, and the dispatch from a run-time dtype to them.
#ifndef TENON_KERNELS_QUANTIZED_QUANTIZED_TYPES_H_
#define TENON_KERNELS_QUANTIZED_QUANTIZED_TYPES_H_

#include <cstdint>

#include "env/status.h"
#include "graph/dtype.h"

namespace tenon {

// Calls f<T>() with the integer type T of `dtype`; returns false if it is not a quantized dtype.
template <typename F>
bool VisitQuantized(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kQint8:
      return f.template operator()<int8_t>(), true;
    case DType::kQuint8:
      return f.template operator()<uint8_t>(), true;
    case DType::kQint16:
      return f.template operator()<int16_t>(), true;
    case DType::kQuint16:
      return f.template operator()<uint16_t>(), true;
    case DType::kQint32:
      return f.template operator()<int32_t>(), true;
    default:
      return false;
  }
}

inline absl::Status NotQuantized(DType dtype) {
  return Unimplemented("no quantized kernel for ", Name(dtype));
}

}  // namespace tenon

#endif  // TENON_KERNELS_QUANTIZED_QUANTIZED_TYPES_H_
