// Elements of less than 16 bits that are not C++ types: float8_e5m2, float8_e4m3fn, int4, uint4.
// Each takes a byte.
#ifndef TENON_GRAPH_SMALL_NUMBERS_H_
#define TENON_GRAPH_SMALL_NUMBERS_H_

#include <cstdint>

#include "graph/dtype.h"

namespace tenon {

bool IsFloat8(DType dtype);    // float8_e5m2, float8_e4m3fn
bool IsFourBits(DType dtype);  // int4, uint4

// The value of an element of a float8 dtype; exact.
float Float8Value(DType dtype, uint8_t bits);

// The nearest element of a float8 dtype, to even where two are as near. Values that are too large
// become infinity in float8_e5m2, and NaN in float8_e4m3fn, which has no infinity.
uint8_t Float8Bits(DType dtype, double value);

// The integer in the low four bits of an int4 element.
inline int8_t Int4Value(uint8_t bits) {
  return static_cast<int8_t>(static_cast<int8_t>(bits << 4) >> 4);
}

}  // namespace tenon

#endif  // TENON_GRAPH_SMALL_NUMBERS_H_
