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

void RotateNeighbors(const RotaryRow& row) {
  const size_t n = 2 * row.half;
  size_t i = 0;
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  for (; i + lanes <= n; i += lanes) {
    const Vf x = hn::LoadU(d, row.x + i);
    const Vf xc = hn::Mul(x, hn::LoadU(d, row.cos + i));
    const Vf other = hn::Mul(hn::Shuffle2301(x), hn::LoadU(d, row.sin + i));
    hn::StoreU(hn::OddEven(hn::Add(xc, other), hn::Sub(xc, other)), d, row.y + i);
  }
  for (; i < n; i += 2) {
    const float a = row.x[i], b = row.x[i + 1];
    row.y[i] = a * row.cos[i] - b * row.sin[i];
    row.y[i + 1] = b * row.cos[i + 1] + a * row.sin[i + 1];
  }
}

RotaryRowFn RotaryFn(bool interleaved) { return interleaved ? &RotateNeighbors : &RotateRow; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(RotaryFn);

RotaryRowFn FindRotaryRow(bool interleaved) { return HWY_DYNAMIC_DISPATCH(RotaryFn)(interleaved); }

}  // namespace tenon
#endif
