// Lists of element types for kernels, and the dispatch from a run-time dtype to a compile-time
// type.
//
//   VisitTypes(Floats{}, dtype, [&]<typename T>() { Work<T>(); });   // false: not in the list
//
// Kernels that only move elements dispatch on element size: VisitStorage.
#ifndef TENON_KERNELS_INTERFACE_TYPES_H_
#define TENON_KERNELS_INTERFACE_TYPES_H_

#include <Eigen/Core>
#include <complex>
#include <cstdint>
#include <string>
#include <type_traits>

#include "env/status.h"
#include "graph/dtype.h"

namespace tenon {

template <typename... Ts>
struct TypeList {};

template <typename... As, typename... Bs>
TypeList<As..., Bs...> operator+(TypeList<As...>, TypeList<Bs...>) {
  return {};
}
template <typename A, typename B>
using Joined = decltype(A{} + B{});

using complex64 = std::complex<float>;
using complex128 = std::complex<double>;

using Floats = TypeList<float, double, half, bfloat16>;
using Complexes = TypeList<complex64, complex128>;
using SignedInts = TypeList<int8_t, int16_t, int32_t, int64_t>;
using UnsignedInts = TypeList<uint8_t, uint16_t, uint32_t, uint64_t>;
using Ints = Joined<SignedInts, UnsignedInts>;
using RealNumbers = Joined<Floats, Ints>;
using FloatsAndComplexes = Joined<Floats, Complexes>;
using Numbers = Joined<RealNumbers, Complexes>;
using NumbersAndBool = Joined<Numbers, TypeList<bool>>;
using AllTypes = Joined<NumbersAndBool, TypeList<std::string>>;

template <typename T>
inline constexpr bool kIsSmallFloat = std::is_same_v<T, half> || std::is_same_v<T, bfloat16>;
template <typename T>
inline constexpr bool kIsComplex =
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;
template <typename T>
inline constexpr bool kIsFloat = std::is_floating_point_v<T> || kIsSmallFloat<T>;
template <typename T>
inline constexpr bool kIsInt = std::is_integral_v<T> && !std::is_same_v<T, bool>;

// half and bfloat16 are computed in float and rounded once.
template <typename T>
using ComputeType = std::conditional_t<kIsSmallFloat<T>, float, T>;

template <typename T>
ComputeType<T> ToCompute(T v) {
  if constexpr (kIsSmallFloat<T>) {
    return static_cast<float>(v);
  } else {
    return v;
  }
}

template <typename... Ts, typename F>
bool VisitTypes(TypeList<Ts...>, DType dtype, F&& f) {
  return ((dtype == DTypeTraits<Ts>::value ? (f.template operator()<Ts>(), true) : false) || ...);
}

// Calls f<U>() with an unsigned integer U (or complex128, or std::string) that represents elements
// of `dtype` for copying. Returns false if the dtype has no elements.
template <typename F>
bool VisitStorage(DType dtype, F&& f) {
  if (dtype == DType::kString) return f.template operator()<std::string>(), true;
  switch (SizeOf(dtype)) {
    case 1:
      return f.template operator()<uint8_t>(), true;
    case 2:
      return f.template operator()<uint16_t>(), true;
    case 4:
      return f.template operator()<uint32_t>(), true;
    case 8:
      return f.template operator()<uint64_t>(), true;
    case 16:
      return f.template operator()<std::complex<double>>(), true;
  }
  return false;
}

inline absl::Status NoKernelFor(DType dtype) {
  return Unimplemented("no reference kernel for ", Name(dtype));
}

// Returns the result of f<T>(), a Status or StatusOr, for the element type of `dtype`; NoKernelFor
// if it is not in the list.
//
//   return DispatchType(Floats{}, dtype, [&]<typename T>() { return MakeKernel(Work<T>); });
template <typename T, typename... Ts, typename F>
auto DispatchType(TypeList<T, Ts...> types, DType dtype, F&& f) {
  decltype(f.template operator()<T>()) result = NoKernelFor(dtype);
  VisitTypes(types, dtype, [&]<typename U>() { result = f.template operator()<U>(); });
  return result;
}

// Integer arithmetic that wraps around instead of being undefined.
template <typename T>
auto ToWide(T v) {
  return static_cast<std::conditional_t<sizeof(T) <= 4, uint32_t, uint64_t>>(v);
}
template <typename T>
T WrapAdd(T a, T b) {
  if constexpr (kIsInt<T>)
    return static_cast<T>(ToWide(a) + ToWide(b));
  else
    return a + b;
}
template <typename T>
T WrapSub(T a, T b) {
  if constexpr (kIsInt<T>)
    return static_cast<T>(ToWide(a) - ToWide(b));
  else
    return a - b;
}
template <typename T>
T WrapMul(T a, T b) {
  if constexpr (kIsInt<T>)
    return static_cast<T>(ToWide(a) * ToWide(b));
  else
    return a * b;
}

}  // namespace tenon

#endif  // TENON_KERNELS_INTERFACE_TYPES_H_
