// The loops behind FindColorLoop and FindContrastLoops, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/image/color_simd.cc"
#include "kernels/image/color_simd.h"

#include <algorithm>
#include <cstring>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/simd/part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

struct PixelVector {
  Vf a, b, c;
};

// As std::min and std::max: x if either is NaN.
HWY_INLINE Vf Lesser(Vf x, Vf y) { return hn::IfThenElse(hn::Lt(y, x), y, x); }
HWY_INLINE Vf Greater(Vf x, Vf y) { return hn::IfThenElse(hn::Lt(x, y), y, x); }
HWY_INLINE Vf LimitedToOne(Vf x) { return Lesser(Greater(x, hn::Zero(FloatTag())), Const(1.0f)); }

HWY_INLINE Vf LeastOf(const PixelVector& rgb) { return Lesser(Lesser(rgb.a, rgb.b), rgb.c); }
HWY_INLINE Vf LargestOf(const PixelVector& rgb) { return Greater(Greater(rgb.a, rgb.b), rgb.c); }

HWY_INLINE Vf HueOf(const PixelVector& rgb, Vf value, Vf range) {
  const Vf norm = hn::Div(Const(1.0f), hn::Mul(Const(6.0f), range));
  const Vf from_red = hn::Mul(norm, hn::Sub(rgb.b, rgb.c));
  const Vf from_green = hn::Add(hn::Mul(norm, hn::Sub(rgb.c, rgb.a)), Const(2.0f / 6.0f));
  const Vf from_blue = hn::Add(hn::Mul(norm, hn::Sub(rgb.a, rgb.b)), Const(4.0f / 6.0f));
  const Vf hue = hn::IfThenElse(hn::Eq(rgb.a, value), from_red,
                                hn::IfThenElse(hn::Eq(rgb.b, value), from_green, from_blue));
  const Vf zero = hn::Zero(FloatTag());
  const Vf positive = hn::IfThenElse(hn::Lt(hue, zero), hn::Add(hue, Const(1.0f)), hue);
  return hn::IfThenElseZero(hn::Gt(range, zero), positive);
}

HWY_INLINE PixelVector PureColorOf(Vf hue) {
  const Vf h6 = hn::Mul(hue, Const(6.0f)), two = Const(2.0f);
  const auto distance = [&](float from) HWY_ATTR { return hn::Abs(hn::Sub(h6, Const(from))); };
  return {LimitedToOne(hn::Sub(distance(3.0f), Const(1.0f))),
          LimitedToOne(hn::Sub(two, distance(2.0f))), LimitedToOne(hn::Sub(two, distance(4.0f)))};
}

HWY_INLINE PixelVector HsvOf(const PixelVector& rgb) {
  const Vf value = LargestOf(rgb), range = hn::Sub(value, LeastOf(rgb));
  const auto lit = hn::Gt(value, hn::Zero(FloatTag()));
  return {HueOf(rgb, value, range), hn::IfThenElseZero(lit, hn::Div(range, value)), value};
}

HWY_INLINE PixelVector RgbOf(const PixelVector& hsv) {
  const PixelVector pure = PureColorOf(hsv.a);
  const Vf white = hn::Sub(Const(1.0f), hsv.b);
  const auto channel = [&](Vf of_pure) HWY_ATTR {
    return hn::Mul(hn::Add(white, hn::Mul(hsv.b, of_pure)), hsv.c);
  };
  return {channel(pure.a), channel(pure.b), channel(pure.c)};
}

HWY_INLINE PixelVector WithHue(const PixelVector& rgb, Vf delta) {
  const Vf low = LeastOf(rgb), value = LargestOf(rgb), range = hn::Sub(value, low);
  const Vf hue = hn::Add(HueOf(rgb, value, range), delta);
  const PixelVector pure = PureColorOf(hn::Sub(hue, hn::Floor(hue)));
  const auto channel = [&](Vf of_pure) HWY_ATTR { return hn::Add(low, hn::Mul(of_pure, range)); };
  return {channel(pure.a), channel(pure.b), channel(pure.c)};
}

template <ColorChange change>
HWY_INLINE PixelVector Changed(const PixelVector& in, Vf amount) {
  if constexpr (change == ColorChange::kToHsv) return HsvOf(in);
  if constexpr (change == ColorChange::kToRgb) return RgbOf(in);
  if constexpr (change == ColorChange::kHue) return WithHue(in, amount);
  PixelVector hsv = HsvOf(in);
  hsv.b = LimitedToOne(hn::Mul(hsv.b, amount));
  return RgbOf(hsv);
}

template <ColorChange change>
void ChangeColors(const float* in, float amount, size_t pixels, float* out) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  const Vf v = Const(amount);
  const auto vector = [&](const float* from, float* to) HWY_ATTR {
    PixelVector pixel;
    hn::LoadInterleaved3(d, from, pixel.a, pixel.b, pixel.c);
    pixel = Changed<change>(pixel, v);
    hn::StoreInterleaved3(pixel.a, pixel.b, pixel.c, d, to);
  };
  size_t i = 0;
  for (; i + lanes <= pixels; i += lanes) vector(in + 3 * i, out + 3 * i);
  if (i == pixels) return;
  HWY_ALIGN float rest[3 * hn::MaxLanes(d)] = {};
  std::memcpy(rest, in + 3 * i, 3 * (pixels - i) * sizeof(float));
  vector(rest, rest);
  std::memcpy(out + 3 * i, rest, 3 * (pixels - i) * sizeof(float));
}

ColorLoop LoopOfColor(ColorChange change) {
  switch (change) {
    case ColorChange::kToHsv:
      return &ChangeColors<ColorChange::kToHsv>;
    case ColorChange::kToRgb:
      return &ChangeColors<ColorChange::kToRgb>;
    case ColorChange::kHue:
      return &ChangeColors<ColorChange::kHue>;
    default:
      return &ChangeColors<ColorChange::kSaturation>;
  }
}

// Adds `periods` periods of x, the first `count` elements of each.
template <size_t periods>
HWY_INLINE void AddPeriods(const float* x, size_t count, size_t period, double* sums) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> df;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    auto sum = hn::LoadU(d, sums + i);
    for (size_t k = 0; k < periods; ++k) {
      sum = hn::Add(sum, hn::PromoteTo(d, hn::LoadU(df, x + k * period + i)));
    }
    hn::StoreU(sum, d, sums + i);
  }
  for (; i < count; ++i) {
    for (size_t k = 0; k < periods; ++k) sums[i] += static_cast<double>(x[k * period + i]);
  }
}

void AddToSums(const float* x, size_t n, size_t period, double* sums) {
  if (n == 0) return;
  size_t i = 0;
  // Of several periods, as the sums wait for their last stores.
  for (; i + 4 * period <= n; i += 4 * period) AddPeriods<4>(x + i, period, period, sums);
  for (; i < n; i += period) AddPeriods<1>(x + i, std::min(period, n - i), period, sums);
}

void ScaleContrast(const float* x, size_t n, size_t period, const float* mean, float factor,
                   float* y) {
  const Vf scale = Const(factor);
  for (size_t begin = 0; begin < n; begin += period, x += period, y += period) {
    ForParts(std::min(period, n - begin), [&](auto part, size_t i) HWY_ATTR {
      const Vf m = part.Load(mean + i);
      part.Store(hn::Add(hn::Mul(hn::Sub(part.Load(x + i), m), scale), m), y + i);
    });
  }
}

ContrastLoops LoopsOfContrast() { return {&AddToSums, &ScaleContrast}; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(LoopOfColor);
HWY_EXPORT(LoopsOfContrast);

ColorLoop FindColorLoop(ColorChange change) { return HWY_DYNAMIC_DISPATCH(LoopOfColor)(change); }
ContrastLoops FindContrastLoops() { return HWY_DYNAMIC_DISPATCH(LoopsOfContrast)(); }

}  // namespace tenon
#endif
