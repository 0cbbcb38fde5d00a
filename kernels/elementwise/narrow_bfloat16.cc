// float to bfloat16 by the CPU's own instruction, which Highway's targets do not have.
#include "kernels/elementwise/narrow_bfloat16.h"

#include "kernels/elementwise/elementwise.h"
#include "primitive_cache/isa.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <cstring>
#endif

namespace tenon {
namespace {

using NarrowFn = void (*)(const float*, uint16_t*, size_t);

#if defined(__x86_64__)
__attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16"))) void NarrowByInstruction(
    const float* from, uint16_t* to, size_t n) {
  constexpr size_t kLanes = 16;
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const __m256bh narrow = _mm512_cvtneps_pbh(_mm512_loadu_ps(from + i));
    std::memcpy(to + i, &narrow, sizeof(narrow));
  }
  if (i == n) return;
  const __mmask16 rest = static_cast<__mmask16>((1u << (n - i)) - 1);
  const __m256bh narrow = _mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(rest, from + i));
  std::memcpy(to + i, &narrow, (n - i) * sizeof(uint16_t));
}
#endif

NarrowFn Best() {
#if defined(__x86_64__)
  if (HasBfloat16Instructions()) return NarrowByInstruction;
#endif
  return NarrowInVectorCode;
}

}  // namespace

void NarrowToBfloat16(const float* from, uint16_t* to, size_t n) {
  static const NarrowFn best = Best();
  best(from, to, n);
}

}  // namespace tenon
