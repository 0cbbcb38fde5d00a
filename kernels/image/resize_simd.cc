// The loops behind FindResizeLoops, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/image/resize_simd.cc"
#include "kernels/image/resize_simd.h"

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/simd/part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

// Vectors reach past the last channel: what they store there, the next pixel overwrites.
template <class D>
HWY_INLINE void AlongInVectors(D d, const float* row, const ResizeRowTaps& taps, size_t channels,
                               float* out) {
  const size_t lanes = hn::Lanes(d);
  for (size_t o = 0; o < taps.outputs; ++o, out += channels) {
    const int64_t begin = taps.first[o], end = taps.first[o + 1];
    for (size_t c = 0; c < channels; c += lanes) {
      auto sum = hn::Zero(d);
      for (int64_t k = begin; k < end; ++k) {
        const auto pixel = hn::LoadU(d, row + taps.offset[k] + c);
        sum = hn::Add(sum, hn::Mul(pixel, hn::Set(d, taps.weight[k])));
      }
      hn::StoreU(sum, d, out + c);
    }
  }
}

void Along(const float* row, const ResizeRowTaps& taps, size_t channels, float* out) {
  static_assert(hn::MaxLanes(FloatTag()) <= kResizePadding);
  if (channels == 1) return AlongInVectors(hn::CappedTag<float, 1>(), row, taps, channels, out);
  if (channels <= 4) return AlongInVectors(hn::CappedTag<float, 4>(), row, taps, channels, out);
  AlongInVectors(FloatTag(), row, taps, channels, out);
}

template <size_t count>
void BetweenRows(const float* const* rows, const float* weights, bool add, size_t n, float* out) {
  Vf w[count];
  for (size_t r = 0; r < count; ++r) w[r] = Const(weights[r]);
  ForParts(n, [&](auto part, size_t i) HWY_ATTR {
    Vf sum = add ? part.Load(out + i) : hn::Zero(FloatTag());
    for (size_t r = 0; r < count; ++r) sum = hn::Add(sum, hn::Mul(part.Load(rows[r] + i), w[r]));
    part.Store(sum, out + i);
  });
}

void Between(const float* const* rows, const float* weights, size_t count, bool add, size_t n,
             float* out) {
  static_assert(kResizeRows == 4);
  switch (count) {
    case 1:
      return BetweenRows<1>(rows, weights, add, n, out);
    case 2:
      return BetweenRows<2>(rows, weights, add, n, out);
    case 3:
      return BetweenRows<3>(rows, weights, add, n, out);
    default:
      return BetweenRows<4>(rows, weights, add, n, out);
  }
}

ResizeLoops LoopsOfResize() { return {&Along, &Between}; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(LoopsOfResize);

ResizeLoops FindResizeLoops() { return HWY_DYNAMIC_DISPATCH(LoopsOfResize)(); }

}  // namespace tenon
#endif
