// The loops behind FindComplexUnary and FindComplexBinary.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise/complex_simd.cc"
#include "kernels/elementwise/complex_simd.h"

#include <algorithm>
#include <complex>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/elementwise/formulas.h"
#include "kernels/simd/inverse_math-inl.h"
#include "kernels/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {
namespace complexes {

using DoubleTag = hn::ScalableTag<double>;
using HalfTag = hn::Rebind<float, DoubleTag>;  // as many floats
using Vd = hn::Vec<DoubleTag>;
using Vh = hn::Vec<HalfTag>;

// The parts of a vector of numbers.
template <class V>
struct Parts {
  V re, im;
};

// Results, and the lanes in which they are right.
template <class V>
struct Result {
  Parts<V> y;
  hn::Mask<hn::DFromV<V>> right;
};

template <class V>
HWY_INLINE Result<V> IfFinite(Parts<V> y) {
  return {y, hn::And(hn::IsFinite(y.re), hn::IsFinite(y.im))};
}

template <class V>
HWY_INLINE Result<V> Everywhere(Parts<V> y) {
  const hn::DFromV<V> d;
  return {y, hn::FirstN(d, hn::Lanes(d))};
}

// ---- the ops; each has the vectors that it takes and gives ----
template <ElementwiseOp kOp>
struct Op;

template <>
struct Op<ElementwiseOp::kExp> {
  using V = Vf;
  static HWY_INLINE Result<V> Of(Parts<V> x) {
    const Vf size = Exp(x.re);
    return IfFinite<Vf>({hn::Mul(size, Cos(x.im)), hn::Mul(size, Sin(x.im))});
  }
};

template <>
struct Op<ElementwiseOp::kLog> {
  using V = Vf;
  // log |x| = log(large) + log(1 + (small / large)^2) / 2; near 1 half of log(1 + (|x|^2 - 1)).
  static HWY_INLINE Result<V> Of(Parts<V> x) {
    const Vf one = Const(1.0f), half = Const(0.5f);
    const Vf a = hn::Abs(x.re), b = hn::Abs(x.im);
    const Vf large = hn::Max(a, b), small = hn::Min(a, b), ratio = hn::Div(small, large);
    const auto near = hn::And(hn::Ge(large, half), hn::Lt(large, Const(2.0f)));
    const Vf excess = hn::MulAdd(hn::Sub(large, one), hn::Add(large, one), hn::Mul(small, small));
    const Vf log1p = hn::Mul(half, Log1p(hn::IfThenElse(near, excess, hn::Mul(ratio, ratio))));
    const Vf re = hn::Add(log1p, hn::IfThenZeroElse(near, Log(large)));
    Result<V> result = IfFinite<Vf>({re, Atan2(x.im, x.re)});
    result.right = hn::And(result.right, hn::Ge(large, Const(1e-36f)));
    return result;
  }
};

template <>
struct Op<ElementwiseOp::kSqrt> {
  using V = Vf;
  // With t = sqrt((|x| + |re|) / 2), the parts are t and |im| / (2 t), in the order of re's sign.
  static HWY_INLINE Result<V> Of(Parts<V> x) {
    const Vf a = hn::Abs(x.re), b = hn::Abs(x.im), large = hn::Max(a, b);
    const Vf size = hn::Sqrt(hn::MulAdd(a, a, hn::Mul(b, b)));
    const Vf t = hn::Sqrt(hn::Mul(Const(0.5f), hn::Add(size, a)));
    const Vf u = hn::Div(hn::Mul(Const(0.5f), b), t);
    const auto left = hn::Lt(x.re, Const(0.0f));
    Result<V> result =
        IfFinite<Vf>({hn::IfThenElse(left, u, t), hn::CopySign(hn::IfThenElse(left, t, u), x.im)});
    const auto fits = hn::And(hn::Ge(large, Const(1e-15f)), hn::Le(large, Const(1e15f)));
    result.right = hn::And(result.right, fits);
    return result;
  }
};

template <>
struct Op<ElementwiseOp::kMul> {
  using V = Vf;
  static HWY_INLINE Result<V> Of(Parts<V> a, Parts<V> b) {
    return Everywhere<Vf>({hn::NegMulAdd(a.im, b.im, hn::Mul(a.re, b.re)),
                           hn::MulAdd(a.im, b.re, hn::Mul(a.re, b.im))});
  }
};

template <>
struct Op<ElementwiseOp::kDiv> {
  using V = Vh;
  // In double, where no product is too large or small; NaN where the scalar form is.
  static HWY_INLINE Result<V> Of(Parts<V> a, Parts<V> b) {
    const DoubleTag d;
    const HalfTag df;
    const Vd x = hn::PromoteTo(d, a.re), y = hn::PromoteTo(d, a.im);
    const Vd u = hn::PromoteTo(d, b.re), v = hn::PromoteTo(d, b.im);
    const Vd inverse = hn::Div(hn::Set(d, 1.0), hn::MulAdd(u, u, hn::Mul(v, v)));
    const Vd re = hn::Mul(hn::MulAdd(x, u, hn::Mul(y, v)), inverse);
    const Vd im = hn::Mul(hn::NegMulAdd(x, v, hn::Mul(y, u)), inverse);
    return Everywhere<Vh>({hn::DemoteTo(df, re), hn::DemoteTo(df, im)});
  }
};

// ---- loops ----
template <ElementwiseOp kOp>
using TagOf = hn::DFromV<typename Op<kOp>::V>;

inline const float* Floats(const complex64* x) { return reinterpret_cast<const float*>(x); }
inline float* Floats(complex64* x) { return reinterpret_cast<float*>(x); }

template <class D>
HWY_INLINE Parts<hn::Vec<D>> Load(D d, const complex64* x) {
  hn::Vec<D> re, im;
  hn::LoadInterleaved2(d, Floats(x), re, im);
  return {re, im};
}

// A vector of results; `otherwise(i)` is element i's where the vector's is not right.
template <class V, class F>
HWY_INLINE void Store(const Result<V>& result, complex64* to, size_t n, const F& otherwise) {
  const hn::DFromV<V> d;
  const size_t lanes = hn::Lanes(d);
  if (n == lanes && hn::AllTrue(d, result.right)) {
    hn::StoreInterleaved2(result.y.re, result.y.im, d, Floats(to));
    return;
  }
  constexpr size_t kLanes = hn::MaxLanes(hn::DFromV<V>());
  HWY_ALIGN float values[2 * kLanes];
  HWY_ALIGN float right[kLanes];
  hn::StoreInterleaved2(result.y.re, result.y.im, d, values);
  hn::Store(hn::IfThenElseZero(result.right, hn::Set(d, 1.0f)), d, right);
  for (size_t i = 0; i < n; ++i) {
    to[i] = right[i] != 0 ? complex64(values[2 * i], values[2 * i + 1]) : otherwise(i);
  }
}

// The end of an array, filled up with a number for which every op has a vector form.
template <class D>
HWY_INLINE Parts<hn::Vec<D>> LoadEnd(D d, const complex64* x, size_t n) {
  HWY_ALIGN complex64 all[hn::MaxLanes(D())];
  std::fill(std::copy_n(x, n, all), std::end(all), complex64(1, 1));
  return Load(d, all);
}

template <ElementwiseOp kOp>
void UnaryLoop(const void* in, void* out, int64_t count) {
  const TagOf<kOp> d;
  const auto* const x = static_cast<const complex64*>(in);
  auto* const y = static_cast<complex64*>(out);
  const size_t lanes = hn::Lanes(d), n = static_cast<size_t>(count);
  for (size_t i = 0; i < n; i += lanes) {
    const size_t m = std::min(lanes, n - i);
    const auto otherwise = [&](size_t k) { return scalar::Formula<kOp>{}(x[i + k]); };
    Store(Op<kOp>::Of(m == lanes ? Load(d, x + i) : LoadEnd(d, x + i, m)), y + i, m, otherwise);
  }
}

template <ElementwiseOp kOp>
const char* BinaryTile(const Tile& tile, const void* a, const void* b, void* out) {
  const TagOf<kOp> d;
  const auto* x = static_cast<const complex64*>(a) + tile.offset[0];
  const auto* y = static_cast<const complex64*>(b) + tile.offset[1];
  auto* to = static_cast<complex64*>(out) + tile.out;
  const size_t lanes = hn::Lanes(d), n = static_cast<size_t>(tile.cols);
  // One value for the whole row, or the row.
  const auto load = [&](const complex64* row, int64_t stride, size_t i, size_t m) {
    if (stride == 0) {
      return Parts<typename Op<kOp>::V>{hn::Set(d, row->real()), hn::Set(d, row->imag())};
    }
    return m == lanes ? Load(d, row + i) : LoadEnd(d, row + i, m);
  };
  for (int64_t r = 0; r < tile.rows; ++r) {
    for (size_t i = 0; i < n; i += lanes) {
      const size_t m = std::min(lanes, n - i);
      const auto otherwise = [&](size_t k) {
        const auto at = static_cast<int64_t>(i + k);
        return scalar::Formula<kOp>{}(x[at * tile.col_stride[0]], y[at * tile.col_stride[1]]);
      };
      Store(Op<kOp>::Of(load(x, tile.col_stride[0], i, m), load(y, tile.col_stride[1], i, m)),
            to + i, m, otherwise);
    }
    x += tile.row_stride[0];
    y += tile.row_stride[1];
    to += n;
  }
  return nullptr;
}

}  // namespace complexes

ComplexUnaryFn ComplexUnary(ElementwiseOp op) {
  switch (op) {
    case ElementwiseOp::kExp:
      return &complexes::UnaryLoop<ElementwiseOp::kExp>;
    case ElementwiseOp::kLog:
      return &complexes::UnaryLoop<ElementwiseOp::kLog>;
    case ElementwiseOp::kSqrt:
      return &complexes::UnaryLoop<ElementwiseOp::kSqrt>;
    default:
      return nullptr;
  }
}
BinaryLoop ComplexBinary(ElementwiseOp op) {
  switch (op) {
    case ElementwiseOp::kMul:
      return &complexes::BinaryTile<ElementwiseOp::kMul>;
    case ElementwiseOp::kDiv:
      return &complexes::BinaryTile<ElementwiseOp::kDiv>;
    default:
      return nullptr;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(ComplexUnary);
HWY_EXPORT(ComplexBinary);

ComplexUnaryFn FindComplexUnary(ElementwiseOp op) { return HWY_DYNAMIC_DISPATCH(ComplexUnary)(op); }
BinaryLoop FindComplexBinary(ElementwiseOp op) { return HWY_DYNAMIC_DISPATCH(ComplexBinary)(op); }

}  // namespace tenon
#endif
