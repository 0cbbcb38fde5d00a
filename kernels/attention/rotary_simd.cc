// The loop behind FindRotaryRow, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention/rotary_simd.cc"
#include "kernels/attention/rotary_simd.h"

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

void RotateRow(const RotaryRow& row) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d), half = row.half;
  size_t i = 0;
  for (; i + lanes <= half; i += lanes) {
    const Vf a = hn::LoadU(d, row.x + i), b = hn::LoadU(d, row.x + half + i);
    const Vf c0 = hn::LoadU(d, row.cos + i), s0 = hn::LoadU(d, row.sin + i);
    const Vf c1 = hn::LoadU(d, row.cos + row.second + i);
    const Vf s1 = hn::LoadU(d, row.sin + row.second + i);
    hn::StoreU(hn::Sub(hn::Mul(a, c0), hn::Mul(b, s0)), d, row.y + i);
    hn::StoreU(hn::Add(hn::Mul(b, c1), hn::Mul(a, s1)), d, row.y + half + i);
  }
  for (; i < half; ++i) {
    const float a = row.x[i], b = row.x[half + i];
    row.y[i] = a * row.cos[i] - b * row.sin[i];
    row.y[half + i] = b * row.cos[row.second + i] + a * row.sin[row.second + i];
  }
}

RotaryRowFn RotaryFn() { return &RotateRow; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(RotaryFn);

RotaryRowFn FindRotaryRow() { return HWY_DYNAMIC_DISPATCH(RotaryFn)(); }

}  // namespace tenon
#endif
