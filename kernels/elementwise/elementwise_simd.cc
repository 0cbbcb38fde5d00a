// The loops behind FindTileFn, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise/elementwise_simd.cc"
#include <array>
#include <cstring>
#include <utility>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/narrow_bfloat16.h"
#include "kernels/simd/inverse_math-inl.h"
#include "kernels/simd/math-inl.h"
#include "kernels/simd/power_math-inl.h"
#include "kernels/simd/tail-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

// ---- functions of formulas.inc on vectors; the others are in Highway and simd/ ----
template <class V>
HWY_INLINE V Number(double value) {
  return Const(static_cast<float>(value));
}
HWY_INLINE Vf WrapAdd(Vf a, Vf b) { return hn::Add(a, b); }
HWY_INLINE Vf WrapSub(Vf a, Vf b) { return hn::Sub(a, b); }
HWY_INLINE Vf WrapMul(Vf a, Vf b) { return hn::Mul(a, b); }
HWY_INLINE Vf Quotient(Vf a, Vf b) { return hn::Div(a, b); }
HWY_INLINE Vf Reciprocal(Vf x) { return hn::Div(Const(1.0f), x); }
HWY_INLINE Vf Conj(Vf x) { return x; }
HWY_INLINE Vf Sign(Vf x) {
  const Vf one = hn::CopySign(Const(1.0f), x);
  // Keeps 0 and NaN, and flushes a denormal.
  return hn::IfThenElse(hn::Gt(hn::Abs(x), Const(0.0f)), one, hn::Add(x, x));
}
HWY_INLINE Vf SixthOfProduct(Vf x, Vf y) { return hn::Mul(x, hn::Mul(y, Const(1.0f / 6.0f))); }
// x / 2 (1 + tanh(u)) = x sigmoid(2u), u = sqrt(2/pi) (x + 0.044715 x^3)
HWY_INLINE Vf GeluApproximate(Vf x) {
  constexpr float kTwice = 2 * static_cast<float>(kSqrtOf2OverPi);
  const Vf x2 = hn::Mul(x, x);
  const Vf slope = hn::MulAdd(x2, Const(kTwice * static_cast<float>(kGeluCubic)), Const(kTwice));
  return hn::Mul(x, Sigmoid(hn::Mul(x, slope)));
}

#include "kernels/elementwise/formulas.inc"

template <ElementwiseOp kOp>
HWY_INLINE Vf UnaryOf(Vf x, Vf parameter) {
  return Apply<kOp>(x, x, x, parameter);
}

template <ElementwiseOp kOp>
void Unary(const float* a, const float*, const float*, float* out, size_t n, float parameter) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  const Vf p = Const(parameter);
  size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const Vf y0 = UnaryOf<kOp>(hn::LoadU(d, a + i), p);
    const Vf y1 = UnaryOf<kOp>(hn::LoadU(d, a + i + lanes), p);
    hn::StoreU(y0, d, out + i);
    hn::StoreU(y1, d, out + i + lanes);
  }
  for (; i + lanes <= n; i += lanes) hn::StoreU(UnaryOf<kOp>(hn::LoadU(d, a + i), p), d, out + i);
  if (i < n) StoreTail(UnaryOf<kOp>(LoadTail(a + i, n - i), p), out + i, n - i);
}

template <ElementwiseOp kOp, TileForm kForm>
void Binary(const float* a, const float* b, const float*, float* out, size_t n, float parameter) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  const Vf p = Const(parameter);
  const Vf one_a = Const(kForm == TileForm::kScalarA ? a[0] : 0.0f);
  const Vf one_b = Const(kForm == TileForm::kScalarB ? b[0] : 0.0f);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const Vf va = kForm == TileForm::kScalarA ? one_a : hn::LoadU(d, a + i);
    const Vf vb = kForm == TileForm::kScalarB ? one_b : hn::LoadU(d, b + i);
    hn::StoreU(Apply<kOp>(va, vb, vb, p), d, out + i);
  }
  if (i < n) {
    const Vf va = kForm == TileForm::kScalarA ? one_a : LoadTail(a + i, n - i);
    const Vf vb = kForm == TileForm::kScalarB ? one_b : LoadTail(b + i, n - i);
    StoreTail(Apply<kOp>(va, vb, vb, p), out + i, n - i);
  }
}

template <ElementwiseOp kOp>
void Ternary(const float* a, const float* b, const float* c, float* out, size_t n, float) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const Vf va = hn::LoadU(d, a + i), vb = hn::LoadU(d, b + i), vc = hn::LoadU(d, c + i);
    hn::StoreU(Apply<kOp>(va, vb, vc, va), d, out + i);
  }
  if (i < n) {
    const size_t m = n - i;
    const Vf va = LoadTail(a + i, m), vb = LoadTail(b + i, m), vc = LoadTail(c + i, m);
    StoreTail(Apply<kOp>(va, vb, vc, va), out + i, m);
  }
}

template <ElementwiseOp kOp>
TileFn LoopOf(TileForm form) {
  if constexpr (Arity(kOp) == 1) {
    return &Unary<kOp>;
  } else if constexpr (Arity(kOp) == 3) {
    return &Ternary<kOp>;
  } else {
    switch (form) {
      case TileForm::kVectors:
        return &Binary<kOp, TileForm::kVectors>;
      case TileForm::kScalarA:
        return &Binary<kOp, TileForm::kScalarA>;
      case TileForm::kScalarB:
        return &Binary<kOp, TileForm::kScalarB>;
    }
    return nullptr;
  }
}

template <size_t... kOp>
constexpr auto LoopTable(std::index_sequence<kOp...>) {
  return std::array{&LoopOf<static_cast<ElementwiseOp>(kOp)>...};
}

TileFn Find(ElementwiseOp op, TileForm form) {
  constexpr size_t kOps = static_cast<size_t>(ElementwiseOp::kNumOps);
  static constexpr auto kTable = LoopTable(std::make_index_sequence<kOps>());
  return op < ElementwiseOp::kNumOps ? kTable[static_cast<size_t>(op)](form) : nullptr;
}

void Widen(const uint16_t* from, float* to, size_t n) {
  const FloatTag d;
  const hn::RebindToUnsigned<FloatTag> du;
  const hn::Rebind<uint16_t, FloatTag> d16;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto wide = hn::PromoteTo(du, hn::LoadU(d16, from + i));
    hn::StoreU(hn::BitCast(d, hn::ShiftLeft<16>(wide)), d, to + i);
  }
  for (; i < n; ++i) {
    const uint32_t bits = static_cast<uint32_t>(from[i]) << 16;
    std::memcpy(to + i, &bits, sizeof(bits));
  }
}

void Narrow(const float* from, uint16_t* to, size_t n) {
  for (size_t i = 0; i < n; ++i) {  // simple enough for the compiler to vectorize
    uint32_t bits;
    std::memcpy(&bits, from + i, sizeof(bits));
    const uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    const uint32_t nan = (bits >> 16) | 0x40;
    to[i] = static_cast<uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? nan : rounded);
  }
}

const char* TargetName() { return hwy::TargetName(HWY_TARGET); }

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(Find);
HWY_EXPORT(Widen);
HWY_EXPORT(Narrow);
HWY_EXPORT(TargetName);

TileFn FindTileFn(ElementwiseOp op, TileForm form) { return HWY_DYNAMIC_DISPATCH(Find)(op, form); }
void WidenBfloat16(const uint16_t* from, float* to, size_t n) {
  HWY_DYNAMIC_DISPATCH(Widen)(from, to, n);
}
void NarrowInVectorCode(const float* from, uint16_t* to, size_t n) {
  HWY_DYNAMIC_DISPATCH(Narrow)(from, to, n);
}
const char* VectorTargetName() { return HWY_DYNAMIC_DISPATCH(TargetName)(); }

}  // namespace tenon
#endif
