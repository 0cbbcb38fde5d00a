// Functions of vectors whose results are rounded to bfloat16, for code that uses matrix tiles.
#ifndef TENON_KERNELS_MATMUL_TILE_MATH_H_
#define TENON_KERNELS_MATMUL_TILE_MATH_H_

#include "kernels/matmul/tile_config.h"

#if defined(__x86_64__)

namespace tenon {

inline constexpr float kLog2OfE = 1.44269504f;

// 2^t for -160 <= t <= 160, with a relative error of 3e-6; infinite from 128 on. NaN stays.
TENON_TILES inline __m512 PowerOf2(__m512 t) {
  const __m512 whole = _mm512_roundscale_ps(t, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const __m512 f = _mm512_sub_ps(t, whole);
  // Minimax for |f| <= 1/2.
  __m512 power = _mm512_fmadd_ps(f, _mm512_set1_ps(0.00958285f), _mm512_set1_ps(0.05590642f));
  power = _mm512_fmadd_ps(f, power, _mm512_set1_ps(0.24024099f));
  power = _mm512_fmadd_ps(f, power, _mm512_set1_ps(0.69312419f));
  power = _mm512_fmadd_ps(f, power, _mm512_set1_ps(1.0f));
  return _mm512_scalef_ps(power, whole);
}

}  // namespace tenon

#endif  // defined(__x86_64__)

#endif  // TENON_KERNELS_MATMUL_TILE_MATH_H_
