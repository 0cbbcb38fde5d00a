// Loads and stores of less than a vector, without accessing anything past the end. For the target
// being compiled.
#if defined(TENON_KERNELS_SIMD_TAIL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNELS_SIMD_TAIL_INL_H_
#undef TENON_KERNELS_SIMD_TAIL_INL_H_
#else
#define TENON_KERNELS_SIMD_TAIL_INL_H_
#endif

#include <cstring>

#include "hwy/highway.h"
#include "kernels/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

// The first n < Lanes values; the other lanes are 0.
HWY_INLINE Vf LoadTail(const float* from, size_t n) {
  HWY_ALIGN float lanes[hn::MaxLanes(FloatTag())];
  hn::Store(hn::Zero(FloatTag()), FloatTag(), lanes);
  std::memcpy(lanes, from, n * sizeof(float));
  return hn::Load(FloatTag(), lanes);
}

HWY_INLINE void StoreTail(Vf v, float* to, size_t n) {
  HWY_ALIGN float lanes[hn::MaxLanes(FloatTag())];
  hn::Store(v, FloatTag(), lanes);
  std::memcpy(to, lanes, n * sizeof(float));
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#endif  // per target
