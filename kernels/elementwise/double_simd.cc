// The loops behind FindDoubleUnary and FindDoubleBinary, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise/double_simd.cc"
#include "kernels/elementwise/double_simd.h"

#include <math.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/elementwise/vector_libm.h"
#include "kernels/simd/tail-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace doubles {

using DoubleTag = hn::ScalableTag<double>;
using Vd = hn::Vec<DoubleTag>;
using Raw = decltype(Vd::raw);
using RawUnary = Raw (*)(Raw);
using RawBinary = Raw (*)(Raw, Raw);

#if HWY_TARGET <= HWY_AVX3
#define TENON_VECTOR_FORM "eN8"
#elif HWY_TARGET <= HWY_AVX2
#define TENON_VECTOR_FORM "dN4"
#else
#define TENON_VECTOR_FORM "bN2"
#endif

HWY_INLINE Vd Const(double value) { return hn::Set(DoubleTag(), value); }

// Clang passes vectors as the options of the file say, not as the function's instruction set does,
// and so in memory, where glibc does not look for them. Code that it compiles calls the scalar
// functions.
template <typename Function, FunctionName name>
Function Find(const char* form) {
#ifdef __clang__
  static_cast<void>(form);
  return nullptr;
#else
  return reinterpret_cast<Function>(FindVectorFunction(form, name.text));
#endif
}

// ---- functions of formulas.inc on vectors; the others are Highway's ----
template <FunctionName name, double (*scalar)(double)>
HWY_INLINE Vd Call(Vd x) {
  static const auto fn = Find<RawUnary, name>(TENON_VECTOR_FORM "v");
  if (fn != nullptr) return Vd{fn(x.raw)};
  HWY_ALIGN double lanes[hn::MaxLanes(DoubleTag())];
  hn::Store(x, DoubleTag(), lanes);
  for (double& lane : lanes) lane = scalar(lane);
  return hn::Load(DoubleTag(), lanes);
}
template <FunctionName name, double (*scalar)(double, double)>
HWY_INLINE Vd Call(Vd x, Vd y) {
  static const auto fn = Find<RawBinary, name>(TENON_VECTOR_FORM "vv");
  if (fn != nullptr) return Vd{fn(x.raw, y.raw)};
  HWY_ALIGN double a[hn::MaxLanes(DoubleTag())];
  HWY_ALIGN double b[hn::MaxLanes(DoubleTag())];
  hn::Store(x, DoubleTag(), a);
  hn::Store(y, DoubleTag(), b);
  for (size_t i = 0; i < std::size(a); ++i) a[i] = scalar(a[i], b[i]);
  return hn::Load(DoubleTag(), a);
}

HWY_INLINE Vd Exp(Vd x) { return Call<"exp", ::exp>(x); }
HWY_INLINE Vd Expm1(Vd x) { return Call<"expm1", ::expm1>(x); }
HWY_INLINE Vd Log(Vd x) { return Call<"log", ::log>(x); }
HWY_INLINE Vd Log1p(Vd x) { return Call<"log1p", ::log1p>(x); }
HWY_INLINE Vd Erf(Vd x) { return Call<"erf", ::erf>(x); }
HWY_INLINE Vd Erfc(Vd x) { return Call<"erfc", ::erfc>(x); }
HWY_INLINE Vd Tanh(Vd x) { return Call<"tanh", ::tanh>(x); }
HWY_INLINE Vd Sin(Vd x) { return Call<"sin", ::sin>(x); }
HWY_INLINE Vd Cos(Vd x) { return Call<"cos", ::cos>(x); }
HWY_INLINE Vd Tan(Vd x) { return Call<"tan", ::tan>(x); }
HWY_INLINE Vd Asin(Vd x) { return Call<"asin", ::asin>(x); }
HWY_INLINE Vd Acos(Vd x) { return Call<"acos", ::acos>(x); }
HWY_INLINE Vd Atan(Vd x) { return Call<"atan", ::atan>(x); }
HWY_INLINE Vd Sinh(Vd x) { return Call<"sinh", ::sinh>(x); }
HWY_INLINE Vd Cosh(Vd x) { return Call<"cosh", ::cosh>(x); }
HWY_INLINE Vd Asinh(Vd x) { return Call<"asinh", ::asinh>(x); }
HWY_INLINE Vd Acosh(Vd x) { return Call<"acosh", ::acosh>(x); }
HWY_INLINE Vd Atanh(Vd x) { return Call<"atanh", ::atanh>(x); }
HWY_INLINE Vd Atan2(Vd y, Vd x) { return Call<"atan2", ::atan2>(y, x); }
HWY_INLINE Vd Pow(Vd x, Vd y) { return Call<"pow", ::pow>(x, y); }

template <class V>
HWY_INLINE V Number(double value) {
  return Const(value);
}
HWY_INLINE Vd WrapAdd(Vd a, Vd b) { return hn::Add(a, b); }
HWY_INLINE Vd WrapSub(Vd a, Vd b) { return hn::Sub(a, b); }
HWY_INLINE Vd WrapMul(Vd a, Vd b) { return hn::Mul(a, b); }
HWY_INLINE Vd Quotient(Vd a, Vd b) { return hn::Div(a, b); }
HWY_INLINE Vd Reciprocal(Vd x) { return hn::Div(Const(1), x); }
HWY_INLINE Vd Conj(Vd x) { return x; }
HWY_INLINE Vd Sign(Vd x) {
  const Vd one = hn::CopySign(Const(1), x);
  // Keeps 0 and NaN, and flushes a denormal.
  return hn::IfThenElse(hn::Gt(hn::Abs(x), Const(0)), one, hn::Add(x, x));
}
HWY_INLINE Vd Sigmoid(Vd x) { return hn::Div(Const(1), hn::Add(Const(1), Exp(hn::Neg(x)))); }
HWY_INLINE Vd Softplus(Vd x) {
  // Beyond this threshold, log1p(exp(x)) equals x, or exp(x), to the last bit.
  const double threshold = ::log(std::numeric_limits<double>::epsilon()) + 2;
  const Vd e = Exp(x);
  const Vd small = hn::IfThenElse(hn::Lt(x, Const(threshold)), e, Log1p(e));
  return hn::IfThenElse(hn::Gt(x, Const(-threshold)), x, small);
}
HWY_INLINE Vd GeluExact(Vd x) {
  return hn::Mul(hn::Mul(Const(0.5), x), Erfc(hn::Mul(x, Const(-kSqrtOfHalf))));
}
HWY_INLINE Vd GeluApproximate(Vd x) {
  const Vd cube = hn::Mul(hn::Mul(hn::Mul(Const(kGeluCubic), x), x), x);
  const Vd inner = hn::Mul(Const(kSqrtOf2OverPi), hn::Add(x, cube));
  return hn::Mul(hn::Mul(Const(0.5), x), hn::Add(Const(1), Tanh(inner)));
}
HWY_INLINE Vd Swish(Vd x) { return hn::Mul(x, Sigmoid(x)); }
HWY_INLINE Vd SixthOfProduct(Vd x, Vd y) { return hn::Div(hn::Mul(x, y), Const(6)); }
HWY_INLINE Vd Mish(Vd x) {
  const Vd softplus = hn::IfThenElse(hn::Gt(x, Const(20)), x, Log1p(Exp(x)));
  return hn::Mul(x, Tanh(softplus));
}
// Not used: those ops have no loops here.
Vd Erfinv(Vd x);
Vd Ndtri(Vd x);

#include "kernels/elementwise/formulas.inc"

// The end of an array, repeated up to a whole vector: functions take longer for zeros.
HWY_INLINE Vd LoadEnd(const double* from, size_t n) {
  HWY_ALIGN double lanes[hn::MaxLanes(DoubleTag())];
  std::fill(std::copy_n(from, n, lanes), std::end(lanes), from[0]);
  return hn::Load(DoubleTag(), lanes);
}

template <ElementwiseOp kOp>
void UnaryLoop(const void* a, void* out, int64_t count) {
  const DoubleTag d;
  const size_t lanes = hn::Lanes(d), n = static_cast<size_t>(count);
  const auto* const x = static_cast<const double*>(a);
  auto* const y = static_cast<double*>(out);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const Vd v = hn::LoadU(d, x + i);
    hn::StoreU(Apply<kOp>(v, v, v, v), d, y + i);
  }
  if (i == n) return;
  const Vd v = LoadEnd(x + i, n - i);
  StoreFirst(d, Apply<kOp>(v, v, v, v), y + i, n - i);
}

// An operand along a row, or one value for the whole row.
template <bool repeats>
struct RowOperand {
  const double* at;
  HWY_INLINE Vd Whole(size_t i) const {
    return repeats ? Const(*at) : hn::LoadU(DoubleTag(), at + i);
  }
  HWY_INLINE Vd End(size_t i, size_t n) const { return repeats ? Const(*at) : LoadEnd(at + i, n); }
};

template <ElementwiseOp kOp, class A, class B>
HWY_INLINE void Row(A a, B b, size_t n, double* out) {
  const DoubleTag d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const Vd x = a.Whole(i), y = b.Whole(i);
    hn::StoreU(Apply<kOp>(x, y, y, y), d, out + i);
  }
  if (i == n) return;
  const Vd x = a.End(i, n - i), y = b.End(i, n - i);
  StoreFirst(d, Apply<kOp>(x, y, y, y), out + i, n - i);
}

template <ElementwiseOp kOp>
const char* BinaryTile(const Tile& tile, const void* a, const void* b, void* out) {
  const double* x = static_cast<const double*>(a) + tile.offset[0];
  const double* y = static_cast<const double*>(b) + tile.offset[1];
  double* to = static_cast<double*>(out) + tile.out;
  const size_t n = static_cast<size_t>(tile.cols);
  for (int64_t r = 0; r < tile.rows; ++r) {
    if (tile.col_stride[0] == 0) {
      Row<kOp>(RowOperand<true>{x}, RowOperand<false>{y}, tile.col_stride[1] == 0 ? 1 : n, to);
      if (tile.col_stride[1] == 0) std::fill_n(to, n, *to);
    } else if (tile.col_stride[1] == 0) {
      Row<kOp>(RowOperand<false>{x}, RowOperand<true>{y}, n, to);
    } else {
      Row<kOp>(RowOperand<false>{x}, RowOperand<false>{y}, n, to);
    }
    x += tile.row_stride[0];
    y += tile.row_stride[1];
    to += n;
  }
  return nullptr;
}

template <ElementwiseOp kOp>
constexpr bool HasParameter() {
  if constexpr (Arity(kOp) == 1) {
    return !requires(Vd v) { Formula<kOp>{}(v); };
  } else {
    return !requires(Vd v) { Formula<kOp>{}(v, v); };
  }
}

template <ElementwiseOp kOp>
constexpr DoubleUnaryFn UnaryOf() {
  constexpr bool kNone = kOp == ElementwiseOp::kErfinv || kOp == ElementwiseOp::kNdtri;
  if constexpr (Arity(kOp) != 1 || kNone) {
    return nullptr;
  } else if constexpr (HasParameter<kOp>()) {
    return nullptr;
  } else {
    return &UnaryLoop<kOp>;
  }
}
template <ElementwiseOp kOp>
constexpr BinaryLoop BinaryOf() {
  if constexpr (Arity(kOp) != 2) {
    return nullptr;
  } else if constexpr (HasParameter<kOp>()) {
    return nullptr;
  } else {
    return &BinaryTile<kOp>;
  }
}

constexpr size_t kOps = static_cast<size_t>(ElementwiseOp::kNumOps);
template <size_t... kOp>
constexpr std::array<DoubleUnaryFn, kOps> Unaries(std::index_sequence<kOp...>) {
  return {UnaryOf<static_cast<ElementwiseOp>(kOp)>()...};
}
template <size_t... kOp>
constexpr std::array<BinaryLoop, kOps> Binaries(std::index_sequence<kOp...>) {
  return {BinaryOf<static_cast<ElementwiseOp>(kOp)>()...};
}

}  // namespace doubles

DoubleUnaryFn DoubleUnary(ElementwiseOp op) {
  static constexpr auto kTable = doubles::Unaries(std::make_index_sequence<doubles::kOps>());
  return op < ElementwiseOp::kNumOps ? kTable[static_cast<size_t>(op)] : nullptr;
}
BinaryLoop DoubleBinary(ElementwiseOp op) {
  static constexpr auto kTable = doubles::Binaries(std::make_index_sequence<doubles::kOps>());
  return op < ElementwiseOp::kNumOps ? kTable[static_cast<size_t>(op)] : nullptr;
}

#undef TENON_VECTOR_FORM

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(DoubleUnary);
HWY_EXPORT(DoubleBinary);

DoubleUnaryFn FindDoubleUnary(ElementwiseOp op) { return HWY_DYNAMIC_DISPATCH(DoubleUnary)(op); }
BinaryLoop FindDoubleBinary(ElementwiseOp op) { return HWY_DYNAMIC_DISPATCH(DoubleBinary)(op); }

}  // namespace tenon
#endif
