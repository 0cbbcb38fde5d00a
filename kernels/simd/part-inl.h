// Processes rows in vectors, whole ones and then the rest, with the same code. Elements are float,
// or bfloat16 bits in uint16_t. For the target being compiled.
//
//   ForParts(n, [&](auto part, size_t i) {
//     part.Store(hn::Mul(part.Load(x + i), factor), y + i);
//     sum = hn::Add(sum, part.Keep(part.Load(x + i)));  // lanes past the end count as 0
//   });
#if defined(TENON_KERNELS_SIMD_PART_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNELS_SIMD_PART_INL_H_
#undef TENON_KERNELS_SIMD_PART_INL_H_
#else
#define TENON_KERNELS_SIMD_PART_INL_H_
#endif

#include <cstdint>

#include "hwy/highway.h"
#include "kernels/simd/math-inl.h"
#include "kernels/simd/tail-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

using Bfloat16Tag = hn::Rebind<uint16_t, FloatTag>;

HWY_INLINE float Total(Vf v) { return hn::GetLane(hn::SumOfLanes(FloatTag(), v)); }

HWY_INLINE Vf Widened(hn::Vec<Bfloat16Tag> bits) {
  const hn::RebindToUnsigned<FloatTag> du;
  return hn::BitCast(FloatTag(), hn::ShiftLeft<16>(hn::PromoteTo(du, bits)));
}
// Rounds to nearest even; NaN stays NaN.
HWY_INLINE hn::Vec<Bfloat16Tag> Narrowed(Vf v) {
  const hn::RebindToUnsigned<FloatTag> du;
  const auto bits = hn::BitCast(du, v);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
  const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7fff)));
  const auto nan = hn::Or(bits, hn::Set(du, 0x400000));
  const auto chosen = hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(v)), nan, rounded);
  return hn::DemoteTo(Bfloat16Tag(), hn::BitCast(IntTag(), hn::ShiftRight<16>(chosen)));
}

struct WholePart {
  HWY_INLINE Vf Load(const float* from) const { return hn::LoadU(FloatTag(), from); }
  HWY_INLINE Vf Load(const uint16_t* from) const { return Widened(hn::LoadU(Bfloat16Tag(), from)); }
  HWY_INLINE void Store(Vf v, float* to) const { hn::StoreU(v, FloatTag(), to); }
  HWY_INLINE void Store(Vf v, uint16_t* to) const { hn::StoreU(Narrowed(v), Bfloat16Tag(), to); }
  HWY_INLINE Vf Keep(Vf v) const { return v; }
  // Of any lanes.
  template <class D>
  HWY_INLINE hn::Vec<D> Load(D d, const hn::TFromD<D>* from) const {
    return hn::LoadU(d, from);
  }
  template <class D>
  HWY_INLINE void Store(D d, hn::Vec<D> v, hn::TFromD<D>* to) const {
    hn::StoreU(v, d, to);
  }
};

struct RestPart {
  size_t n;
  HWY_INLINE Vf Load(const float* from) const { return LoadTail(from, n); }
  HWY_INLINE Vf Load(const uint16_t* from) const {
    return Widened(LoadFirst(Bfloat16Tag(), from, n));
  }
  HWY_INLINE void Store(Vf v, float* to) const { StoreTail(v, to, n); }
  HWY_INLINE void Store(Vf v, uint16_t* to) const { StoreFirst(Bfloat16Tag(), Narrowed(v), to, n); }
  HWY_INLINE Vf Keep(Vf v) const { return hn::IfThenElseZero(hn::FirstN(FloatTag(), n), v); }
  template <class D>
  HWY_INLINE hn::Vec<D> Load(D d, const hn::TFromD<D>* from) const {
    return LoadFirst(d, from, n);
  }
  template <class D>
  HWY_INLINE void Store(D d, hn::Vec<D> v, hn::TFromD<D>* to) const {
    StoreFirst(d, v, to, n);
  }
};

template <class D, class F>
HWY_INLINE void ForParts(D d, size_t n, F f) {
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) f(WholePart(), i);
  if (i < n) f(RestPart{n - i}, i);
}
template <class F>
HWY_INLINE void ForParts(size_t n, F f) {
  ForParts(FloatTag(), n, f);
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#endif  // per target
