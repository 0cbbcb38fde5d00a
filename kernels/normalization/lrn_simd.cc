// The loops behind FindLrnLoops, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/normalization/lrn_simd.cc"
#include "kernels/normalization/lrn_simd.h"

#include <algorithm>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/simd/part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

// v / n^beta. Dividing v itself saves the rounding of a reciprocal.
HWY_INLINE Vf OverPower(Vf v, Vf n, float beta) {
  if (beta == 1.0f) return hn::Div(v, n);
  if (beta == 0.5f) return hn::Div(v, hn::Sqrt(n));
  if (beta == 0.75f) {
    const Vf root = hn::Sqrt(n);
    return hn::Div(v, hn::Mul(root, hn::Sqrt(root)));
  }
  return hn::Mul(v, Exp(hn::Mul(Const(-beta), Log(n))));
}

// Writes zeros at both ends of a buffer of radius + n + radius; returns the position of the n
// values.
HWY_INLINE float* Padded(const LrnRow& row, float* buffer) {
  std::fill_n(buffer, row.radius, 0.0f);
  std::fill_n(buffer + row.radius + row.n, row.radius, 0.0f);
  return buffer + row.radius;
}

// The sum of values[i - radius] to values[i + radius].
template <class Part>
HWY_INLINE Vf Window(const LrnRow& row, Part part, const float* values, size_t i) {
  Vf sum = hn::Zero(FloatTag());
  const float* from = values + i - row.radius;
  for (size_t k = 0; k <= 2 * row.radius; ++k) sum = hn::Add(sum, part.Load(from + k));
  return sum;
}

HWY_INLINE const float* Squares(const LrnRow& row) {
  float* const squares = Padded(row, row.scratch);
  ForParts(row.n, [&](auto part, size_t i) {
    const Vf x = part.Load(row.x + i);
    part.Store(hn::Mul(x, x), squares + i);
  });
  return squares;
}

template <class Part>
HWY_INLINE Vf Norm(const LrnRow& row, Part part, const float* squares, size_t i) {
  return hn::MulAdd(Const(row.alpha), Window(row, part, squares, i), Const(row.bias));
}

void Forward(const LrnRow& row) {
  const float* const squares = Squares(row);
  ForParts(row.n, [&](auto part, size_t i) {
    const Vf norm = Norm(row, part, squares, i);
    part.Store(OverPower(part.Load(row.x + i), norm, row.beta), row.out + i);
  });
}

void Gradient(const LrnRow& row) {
  const float* const squares = Squares(row);
  float* const terms = Padded(row, row.scratch + row.n + 2 * row.radius);
  ForParts(row.n, [&](auto part, size_t i) {
    const Vf norm = Norm(row, part, squares, i);
    const Vf dy = part.Load(row.dy + i);
    part.Store(hn::Div(hn::Mul(dy, part.Load(row.y + i)), norm), terms + i);
    part.Store(OverPower(dy, norm, row.beta), row.out + i);
  });
  const Vf factor = Const(-2.0f * row.alpha * row.beta);
  ForParts(row.n, [&](auto part, size_t i) {
    const Vf bend = hn::Mul(hn::Mul(factor, part.Load(row.x + i)), Window(row, part, terms, i));
    part.Store(hn::Add(part.Load(row.out + i), bend), row.out + i);
  });
}

LrnLoops LrnLoopsOfTarget() { return {Forward, Gradient}; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(LrnLoopsOfTarget);

LrnLoops FindLrnLoops() { return HWY_DYNAMIC_DISPATCH(LrnLoopsOfTarget)(); }

}  // namespace tenon
#endif
