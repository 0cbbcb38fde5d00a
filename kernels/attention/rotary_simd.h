// The loop over one row of a rotary embedding.
#ifndef TENON_KERNELS_ATTENTION_ROTARY_SIMD_H_
#define TENON_KERNELS_ATTENTION_ROTARY_SIMD_H_

#include <cstddef>

namespace tenon {

// As kernels/attention/rotary.h says. `second`: where the second half begins in cos and sin; 0 if
// they serve both halves. y may be x.
struct RotaryRow {
  const float* x = nullptr;
  const float* cos = nullptr;
  const float* sin = nullptr;
  float* y = nullptr;
  size_t half = 0;
  size_t second = 0;
};
using RotaryRowFn = void (*)(const RotaryRow& row);
RotaryRowFn FindRotaryRow(bool interleaved);

}  // namespace tenon

#endif  // TENON_KERNELS_ATTENTION_ROTARY_SIMD_H_
