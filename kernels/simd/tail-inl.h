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

// The first n < Lanes(d) elements; the other lanes are 0. Through memory, a part of a vector takes
// as long as six whole ones: the load waits for all of the copy. AVX-512 has loads and stores with
// masks; AVX2 only loads of 4 bytes (AMD's stores of that kind take longer than some small ones).
template <class D>
HWY_INLINE hn::Vec<D> LoadFirst(D d, const hn::TFromD<D>* from, size_t n) {
#if HWY_TARGET <= HWY_AVX3
  return hn::MaskedLoad(hn::FirstN(d, n), d, from);
#else
#if HWY_TARGET == HWY_AVX2
  if constexpr (sizeof(*from) == 4) return hn::MaskedLoad(hn::FirstN(d, n), d, from);
#endif
  HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(D())];
  hn::Store(hn::Zero(d), d, lanes);
  std::memcpy(lanes, from, n * sizeof(*from));
  return hn::Load(d, lanes);
#endif
}

template <class D>
HWY_INLINE void StoreFirst(D d, hn::Vec<D> v, hn::TFromD<D>* to, size_t n) {
#if HWY_TARGET <= HWY_AVX3
  hn::BlendedStore(v, hn::FirstN(d, n), d, to);
#else
#if HWY_TARGET == HWY_AVX2
  if constexpr (sizeof(*to) == 4) {
    const hn::Half<D> d4;
    const hn::Half<decltype(d4)> d2;
    const hn::Half<decltype(d2)> d1;
    auto v4 = hn::LowerHalf(d4, v);
    if (n & 4) {
      hn::StoreU(v4, d4, to);
      v4 = hn::UpperHalf(d4, v);
      to += 4;
    }
    auto v2 = hn::LowerHalf(d2, v4);
    if (n & 2) {
      hn::StoreU(v2, d2, to);
      v2 = hn::UpperHalf(d2, v4);
      to += 2;
    }
    if (n & 1) hn::StoreU(hn::LowerHalf(d1, v2), d1, to);
    return;
  }
#endif
  HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(D())];
  hn::Store(v, d, lanes);
  std::memcpy(to, lanes, n * sizeof(*to));
#endif
}

HWY_INLINE Vf LoadTail(const float* from, size_t n) { return LoadFirst(FloatTag(), from, n); }
HWY_INLINE void StoreTail(Vf v, float* to, size_t n) { StoreFirst(FloatTag(), v, to, n); }

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#endif  // per target
