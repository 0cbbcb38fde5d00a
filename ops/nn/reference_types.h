// Which type the reference kernels compute in.
#ifndef TENON_OPS_NN_REFERENCE_TYPES_H_
#define TENON_OPS_NN_REFERENCE_TYPES_H_

#include <Eigen/Core>
#include <cstdint>
#include <type_traits>

#include "env/status.h"
#include "graph/dtype.h"

namespace tenon {

// Sums of half precisions are kept in float; integers wrap around, as unsigned ones may.
template <typename T>
struct ComputeTypeOf {
  using type = T;
};
template <>
struct ComputeTypeOf<half> {
  using type = float;
};
template <>
struct ComputeTypeOf<bfloat16> {
  using type = float;
};
template <>
struct ComputeTypeOf<int8_t> {
  using type = uint32_t;
};
template <>
struct ComputeTypeOf<uint8_t> {
  using type = uint32_t;
};
template <>
struct ComputeTypeOf<int16_t> {
  using type = uint32_t;
};
template <>
struct ComputeTypeOf<uint16_t> {
  using type = uint32_t;
};
template <>
struct ComputeTypeOf<int32_t> {
  using type = uint32_t;
};
template <>
struct ComputeTypeOf<int64_t> {
  using type = uint64_t;
};
template <typename T>
using ComputeType = typename ComputeTypeOf<T>::type;

// Calls f(T{}) for the dtype's element type; Unimplemented for dtypes not in the list.
template <typename... Ts, typename F>
auto ForDType(DType dtype, F f) -> decltype(f(float{})) {
  decltype(f(float{})) result = Unimplemented("no reference kernel for ", Name(dtype));
  (void)((DTypeTraits<Ts>::value == dtype ? (result = f(Ts{}), true) : false) || ...);
  return result;
}

}  // namespace tenon

#endif  // TENON_OPS_NN_REFERENCE_TYPES_H_
