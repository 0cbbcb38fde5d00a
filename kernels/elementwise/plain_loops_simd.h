// Maps of elements whose plain loops the compiler turns into vector code for each instruction set:
// shifts, comparisons and casts, for which SSE2 has no instructions.
#ifndef TENON_KERNELS_ELEMENTWISE_PLAIN_LOOPS_SIMD_H_
#define TENON_KERNELS_ELEMENTWISE_PLAIN_LOOPS_SIMD_H_

#include <cstddef>
#include <cstdint>

#include "graph/dtype.h"

namespace tenon {

enum class PairMap {
  // Of integers; a count below 0 is 0, one of at least the width is the width less 1.
  kLeftShift,
  kRightShift,
  // Of 64-bit integers with a sign and doubles, to bool.
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
};
// out = op(a, b) for n elements of each, or one for all (a step of 0).
using PairMapFn = void (*)(const void* a, size_t a_step, const void* b, size_t b_step, void* out,
                           size_t n);
// Null: none for this dtype.
PairMapFn FindPairMap(PairMap op, DType type);

// The lowest bits of int32 numbers, to which floats are truncated as by x86's instructions.
template <typename Bits>
using FloatToBitsFn = void (*)(const float* x, Bits* y, size_t n);
template <typename Bits>
FloatToBitsFn<Bits> FindFloatToBits();  // uint8_t, uint16_t

}  // namespace tenon

#endif  // TENON_KERNELS_ELEMENTWISE_PLAIN_LOOPS_SIMD_H_
