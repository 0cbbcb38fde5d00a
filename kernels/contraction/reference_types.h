// The accumulator types of the reference kernels of convolutions, products and pools.
#ifndef TENON_KERNELS_CONTRACTION_REFERENCE_TYPES_H_
#define TENON_KERNELS_CONTRACTION_REFERENCE_TYPES_H_

#include <cstdint>
#include <type_traits>

#include "graph/dtype.h"

namespace tenon {

// Sums of half precisions are in float; integers wrap around, like unsigned ones.
template <typename T>
struct AccumulatorTypeOf {
  using type = T;
};
template <>
struct AccumulatorTypeOf<half> {
  using type = float;
};
template <>
struct AccumulatorTypeOf<bfloat16> {
  using type = float;
};
template <>
struct AccumulatorTypeOf<int8_t> {
  using type = uint32_t;
};
template <>
struct AccumulatorTypeOf<uint8_t> {
  using type = uint32_t;
};
template <>
struct AccumulatorTypeOf<int16_t> {
  using type = uint32_t;
};
template <>
struct AccumulatorTypeOf<uint16_t> {
  using type = uint32_t;
};
template <>
struct AccumulatorTypeOf<int32_t> {
  using type = uint32_t;
};
template <>
struct AccumulatorTypeOf<int64_t> {
  using type = uint64_t;
};
template <typename T>
using AccumulatorType = typename AccumulatorTypeOf<T>::type;

}  // namespace tenon

#endif  // TENON_KERNELS_CONTRACTION_REFERENCE_TYPES_H_
