// What real and complex numbers have in common.
#ifndef TENON_KERNELS_LINALG_LOOPS_NUMBERS_H_
#define TENON_KERNELS_LINALG_LOOPS_NUMBERS_H_

#include <cmath>
#include <complex>

#include "kernels/interface/types.h"

namespace tenon {

template <typename S>
struct RealPart {
  using Type = S;
};
template <typename T>
struct RealPart<std::complex<T>> {
  using Type = T;
};
template <typename S>
using RealOf = typename RealPart<S>::Type;

template <typename S>
S Conjugate(S v) {
  if constexpr (kIsComplex<S>) return std::conj(v);
  return v;
}

// Without the checks for infinities that the operator of complex numbers makes.
template <typename S>
S Times(S a, S b) {
  if constexpr (kIsComplex<S>) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  } else {
    return a * b;
  }
}

template <typename S>
bool IsFinite(S v) {
  return std::isfinite(std::real(v)) && std::isfinite(std::imag(v));
}

}  // namespace tenon

#endif  // TENON_KERNELS_LINALG_LOOPS_NUMBERS_H_
