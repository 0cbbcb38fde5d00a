// Rotary position embedding: pairs of a row's elements, half a row apart, are rotated,
//
//   y[i]     = x[i] * cos[i]         - x[i + h] * sin[i]
//   y[i + h] = x[i + h] * cos[i + h] + x[i] * sin[i + h],    h = n / 2,
//
// where rows of `cos` and `sin` have n elements, or h, which serve both halves. With the attribute
// `interleaved`, pairs are neighbors, and cos and sin have n elements:
//
//   y[2i]     = x[2i] * cos[2i]         - x[2i + 1] * sin[2i]
//   y[2i + 1] = x[2i + 1] * cos[2i + 1] + x[2i] * sin[2i + 1]
#ifndef TENON_KERNELS_ATTENTION_ROTARY_H_
#define TENON_KERNELS_ATTENTION_ROTARY_H_

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/interface/kernel.h"

namespace tenon {

// Inputs: x, cos, sin, of which the latter broadcast to x's dimensions before the last. Output: y,
// shaped as x. Floating-point dtypes.
absl::StatusOr<std::unique_ptr<Kernel>> RotaryReference(PrepareContext& p);
// float and bfloat16.
absl::StatusOr<std::unique_ptr<Kernel>> RotaryVector(PrepareContext& p);

}  // namespace tenon

#endif  // TENON_KERNELS_ATTENTION_ROTARY_H_
