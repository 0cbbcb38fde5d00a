// The loops behind FindTileFn, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise/elementwise_simd.cc"
#include <cstring>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/simd/math-inl.h"
#include "kernels/simd/tail-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

// ---- unary: struct with static Vf Of(Vf x, Vf parameter) ----
struct Copy {
  static HWY_INLINE Vf Of(Vf x, Vf) { return x; }
};
struct AbsOp {
  static HWY_INLINE Vf Of(Vf x, Vf) { return hn::Abs(x); }
};
struct NegOp {
  static HWY_INLINE Vf Of(Vf x, Vf) { return hn::Neg(x); }
};
struct SquareOp {
  static HWY_INLINE Vf Of(Vf x, Vf) { return hn::Mul(x, x); }
};
struct SqrtOp {
  static HWY_INLINE Vf Of(Vf x, Vf) { return hn::Sqrt(x); }
};
struct RsqrtOp {
  static HWY_INLINE Vf Of(Vf x, Vf) { return hn::Div(Const(1.0f), hn::Sqrt(x)); }
};
struct ReciprocalOp {
  static HWY_INLINE Vf Of(Vf x, Vf) { return hn::Div(Const(1.0f), x); }
};
struct SignOp {
  static HWY_INLINE Vf Of(Vf x, Vf) {
    const Vf one = hn::CopySign(Const(1.0f), x);
    return hn::IfThenElse(hn::Gt(hn::Abs(x), Const(0.0f)), one, x);  // 0 and NaN stay
  }
};
struct FloorOp {
  static HWY_INLINE Vf Of(Vf x, Vf) { return hn::Floor(x); }
};
struct CeilOp {
  static HWY_INLINE Vf Of(Vf x, Vf) { return hn::Ceil(x); }
};
struct RintOp {
  static HWY_INLINE Vf Of(Vf x, Vf) { return hn::Round(x); }
};
struct ExpOp {
  static HWY_INLINE Vf Of(Vf x, Vf) { return Exp(x); }
};
struct Expm1Op {
  static HWY_INLINE Vf Of(Vf x, Vf) { return Expm1(x); }
};
struct LogOp {
  static HWY_INLINE Vf Of(Vf x, Vf) { return Log(x); }
};
struct Log1pOp {
  static HWY_INLINE Vf Of(Vf x, Vf) { return Log1p(x); }
};
struct ErfOp {
  static HWY_INLINE Vf Of(Vf x, Vf) { return Erf(x); }
};
struct ErfcOp {
  static HWY_INLINE Vf Of(Vf x, Vf) { return Erfc(x); }
};
struct TanhOp {
  static HWY_INLINE Vf Of(Vf x, Vf) { return Tanh(x); }
};
struct SigmoidOp {
  static HWY_INLINE Vf Of(Vf x, Vf) { return Sigmoid(x); }
};
struct ReluOp {  // NaN stays NaN, so not Max
  static HWY_INLINE Vf Of(Vf x, Vf) { return hn::IfThenZeroElse(hn::Lt(x, Const(0.0f)), x); }
};
struct Relu6Op {
  static HWY_INLINE Vf Of(Vf x, Vf) {
    const Vf y = hn::IfThenZeroElse(hn::Lt(x, Const(0.0f)), x);
    return hn::IfThenElse(hn::Gt(x, Const(6.0f)), Const(6.0f), y);
  }
};
struct LeakyReluOp {  // any alpha, larger than 1 or negative too
  static HWY_INLINE Vf Of(Vf x, Vf alpha) {
    return hn::IfThenElse(hn::Lt(x, Const(0.0f)), hn::Mul(alpha, x), x);
  }
};
struct EluOp {
  static HWY_INLINE Vf Of(Vf x, Vf) { return hn::IfThenElse(hn::Lt(x, Const(0.0f)), Expm1(x), x); }
};
struct SeluOp {
  static HWY_INLINE Vf Of(Vf x, Vf) {
    const Vf scale = Const(1.0507009873554804934f);
    const Vf scale_alpha = Const(1.7580993408473768599f);
    return hn::IfThenElse(hn::Lt(x, Const(0.0f)), hn::Mul(scale_alpha, Expm1(x)),
                          hn::Mul(scale, x));
  }
};
struct SoftplusOp {
  static HWY_INLINE Vf Of(Vf x, Vf) { return Softplus(x); }
};
struct SoftsignOp {
  static HWY_INLINE Vf Of(Vf x, Vf) { return hn::Div(x, hn::Add(Const(1.0f), hn::Abs(x))); }
};
struct GeluExactOp {  // x Phi(x), as x / 2 erfc(-x / sqrt(2)): accurate for x far below 0
  static HWY_INLINE Vf Of(Vf x, Vf) {
    const Vf y = Erfc(hn::Mul(x, Const(-0.70710678118654752f)));
    return hn::Mul(hn::Mul(x, Const(0.5f)), y);
  }
};
struct GeluApproximateOp {  // x / 2 (1 + tanh(u)) = x sigmoid(2u), u = sqrt(2/pi) (x + 0.044715
                            // x^3)
  static HWY_INLINE Vf Of(Vf x, Vf) {
    const Vf x2 = hn::Mul(x, x);
    const Vf slope =
        hn::MulAdd(x2, Const(2 * 0.7978845608028654f * 0.044715f), Const(2 * 0.7978845608028654f));
    return hn::Mul(x, Sigmoid(hn::Mul(x, slope)));
  }
};
struct SwishOp {
  static HWY_INLINE Vf Of(Vf x, Vf) { return Swish(x); }
};
struct HardSwishOp {
  static HWY_INLINE Vf Of(Vf x, Vf p) {
    const Vf gate = Relu6Op::Of(hn::Add(x, Const(3.0f)), p);
    return hn::Mul(x, hn::Mul(gate, Const(1.0f / 6.0f)));
  }
};
struct MishOp {
  static HWY_INLINE Vf Of(Vf x, Vf) { return Mish(x); }
};

// ---- binary: struct with static Vf Of(Vf a, Vf b) ----
struct AddOp {
  static HWY_INLINE Vf Of(Vf a, Vf b) { return hn::Add(a, b); }
};
struct SubOp {
  static HWY_INLINE Vf Of(Vf a, Vf b) { return hn::Sub(a, b); }
};
struct MulOp {
  static HWY_INLINE Vf Of(Vf a, Vf b) { return hn::Mul(a, b); }
};
struct DivOp {
  static HWY_INLINE Vf Of(Vf a, Vf b) { return hn::Div(a, b); }
};
struct DivNoNanOp {
  static HWY_INLINE Vf Of(Vf a, Vf b) {
    return hn::IfThenZeroElse(hn::Eq(b, Const(0.0f)), hn::Div(a, b));
  }
};
struct MaximumOp {  // a NaN on either side is the result
  static HWY_INLINE Vf Of(Vf a, Vf b) {
    return KeepNaN(a, KeepNaN(b, hn::IfThenElse(hn::Lt(a, b), b, a)));
  }
};
struct MinimumOp {
  static HWY_INLINE Vf Of(Vf a, Vf b) {
    return KeepNaN(a, KeepNaN(b, hn::IfThenElse(hn::Lt(b, a), b, a)));
  }
};
struct SquaredDifferenceOp {
  static HWY_INLINE Vf Of(Vf a, Vf b) {
    const Vf d = hn::Sub(a, b);
    return hn::Mul(d, d);
  }
};

// ---- gradients: binary, some with the parameter ----
struct ReluGradOp {
  static HWY_INLINE Vf Of(Vf g, Vf x) {
    return hn::Mul(g, hn::IfThenElseZero(hn::Gt(x, Const(0.0f)), Const(1.0f)));
  }
};
struct Relu6GradOp {
  static HWY_INLINE Vf Of(Vf g, Vf x) {
    const auto inside = hn::And(hn::Gt(x, Const(0.0f)), hn::Lt(x, Const(6.0f)));
    return hn::Mul(g, hn::IfThenElseZero(inside, Const(1.0f)));
  }
};
struct LeakyReluGradOp {
  static HWY_INLINE Vf Of(Vf g, Vf x, Vf alpha) {
    return hn::IfThenElse(hn::Gt(x, Const(0.0f)), g, hn::Mul(g, alpha));
  }
};
struct EluGradOp {
  static HWY_INLINE Vf Of(Vf g, Vf y) {
    return hn::IfThenElse(hn::Lt(y, Const(0.0f)), hn::Mul(hn::Add(y, Const(1.0f)), g), g);
  }
};
struct SeluGradOp {
  static HWY_INLINE Vf Of(Vf g, Vf y) {
    const Vf negative = hn::Add(y, Const(1.7580993408473768599f));
    const Vf slope =
        hn::IfThenElse(hn::Lt(y, Const(0.0f)), negative, Const(1.0507009873554804934f));
    return hn::Mul(g, slope);
  }
};
struct SoftplusGradOp {
  static HWY_INLINE Vf Of(Vf g, Vf x) { return hn::Div(g, hn::Add(Exp(hn::Neg(x)), Const(1.0f))); }
};
struct SoftsignGradOp {
  static HWY_INLINE Vf Of(Vf g, Vf x) {
    const Vf root = hn::Add(hn::Abs(x), Const(1.0f));
    return hn::Div(g, hn::Mul(root, root));
  }
};
struct TanhGradOp {
  static HWY_INLINE Vf Of(Vf y, Vf dy) { return hn::Mul(dy, hn::Sub(Const(1.0f), hn::Mul(y, y))); }
};
struct SigmoidGradOp {
  static HWY_INLINE Vf Of(Vf y, Vf dy) { return hn::Mul(hn::Mul(dy, y), hn::Sub(Const(1.0f), y)); }
};
HWY_INLINE Vf ZeroWhere0(Vf dy, Vf product) {  // 0 times infinity, too
  return hn::IfThenZeroElse(hn::Eq(dy, Const(0.0f)), product);
}
struct SqrtGradOp {
  static HWY_INLINE Vf Of(Vf y, Vf dy) {
    return ZeroWhere0(dy, hn::Div(hn::Mul(Const(0.5f), dy), y));
  }
};
struct RsqrtGradOp {
  static HWY_INLINE Vf Of(Vf y, Vf dy) {
    const Vf first = hn::Mul(Const(-0.5f), hn::Mul(dy, y));
    return ZeroWhere0(dy, hn::Mul(first, hn::Mul(y, y)));
  }
};
struct ReciprocalGradOp {
  static HWY_INLINE Vf Of(Vf y, Vf dy) {
    return ZeroWhere0(dy, hn::Mul(hn::Mul(hn::Neg(y), y), dy));
  }
};

// ---- ternary ----
struct MulAddOp {
  static HWY_INLINE Vf Of(Vf a, Vf b, Vf c) { return hn::MulAdd(a, b, c); }
};
struct MulAddReluOp {
  static HWY_INLINE Vf Of(Vf a, Vf b, Vf c) { return ReluOp::Of(hn::MulAdd(a, b, c), a); }
};

template <class Op>
void Unary(const float* a, const float*, const float*, float* out, size_t n, float parameter) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  const Vf p = Const(parameter);
  size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const Vf y0 = Op::Of(hn::LoadU(d, a + i), p);
    const Vf y1 = Op::Of(hn::LoadU(d, a + i + lanes), p);
    hn::StoreU(y0, d, out + i);
    hn::StoreU(y1, d, out + i + lanes);
  }
  for (; i + lanes <= n; i += lanes) hn::StoreU(Op::Of(hn::LoadU(d, a + i), p), d, out + i);
  if (i < n) StoreTail(Op::Of(LoadTail(a + i, n - i), p), out + i, n - i);
}

template <class Op>
HWY_INLINE Vf Pair(Vf a, Vf b, Vf parameter) {
  if constexpr (requires { Op::Of(a, b); }) {
    return Op::Of(a, b);
  } else {
    return Op::Of(a, b, parameter);
  }
}

template <class Op, TileForm kForm>
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
    hn::StoreU(Pair<Op>(va, vb, p), d, out + i);
  }
  if (i < n) {
    const Vf va = kForm == TileForm::kScalarA ? one_a : LoadTail(a + i, n - i);
    const Vf vb = kForm == TileForm::kScalarB ? one_b : LoadTail(b + i, n - i);
    StoreTail(Pair<Op>(va, vb, p), out + i, n - i);
  }
}

template <class Op>
void Ternary(const float* a, const float* b, const float* c, float* out, size_t n, float) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(Op::Of(hn::LoadU(d, a + i), hn::LoadU(d, b + i), hn::LoadU(d, c + i)), d, out + i);
  }
  if (i < n) {
    const size_t m = n - i;
    StoreTail(Op::Of(LoadTail(a + i, m), LoadTail(b + i, m), LoadTail(c + i, m)), out + i, m);
  }
}

template <class Op>
TileFn BinaryForm(TileForm form) {
  switch (form) {
    case TileForm::kVectors:
      return &Binary<Op, TileForm::kVectors>;
    case TileForm::kScalarA:
      return &Binary<Op, TileForm::kScalarA>;
    case TileForm::kScalarB:
      return &Binary<Op, TileForm::kScalarB>;
  }
  return nullptr;
}

TileFn Find(ElementwiseOp op, TileForm form) {
  using E = ElementwiseOp;
  switch (op) {
    case E::kCopy:
      return &Unary<Copy>;
    case E::kAbs:
      return &Unary<AbsOp>;
    case E::kNeg:
      return &Unary<NegOp>;
    case E::kSquare:
      return &Unary<SquareOp>;
    case E::kSqrt:
      return &Unary<SqrtOp>;
    case E::kRsqrt:
      return &Unary<RsqrtOp>;
    case E::kReciprocal:
      return &Unary<ReciprocalOp>;
    case E::kSign:
      return &Unary<SignOp>;
    case E::kFloor:
      return &Unary<FloorOp>;
    case E::kCeil:
      return &Unary<CeilOp>;
    case E::kRint:
      return &Unary<RintOp>;
    case E::kExp:
      return &Unary<ExpOp>;
    case E::kExpm1:
      return &Unary<Expm1Op>;
    case E::kLog:
      return &Unary<LogOp>;
    case E::kLog1p:
      return &Unary<Log1pOp>;
    case E::kErf:
      return &Unary<ErfOp>;
    case E::kErfc:
      return &Unary<ErfcOp>;
    case E::kTanh:
      return &Unary<TanhOp>;
    case E::kSigmoid:
      return &Unary<SigmoidOp>;
    case E::kRelu:
      return &Unary<ReluOp>;
    case E::kRelu6:
      return &Unary<Relu6Op>;
    case E::kLeakyRelu:
      return &Unary<LeakyReluOp>;
    case E::kElu:
      return &Unary<EluOp>;
    case E::kSelu:
      return &Unary<SeluOp>;
    case E::kSoftplus:
      return &Unary<SoftplusOp>;
    case E::kSoftsign:
      return &Unary<SoftsignOp>;
    case E::kGeluExact:
      return &Unary<GeluExactOp>;
    case E::kGeluApproximate:
      return &Unary<GeluApproximateOp>;
    case E::kSwish:
      return &Unary<SwishOp>;
    case E::kHardSwish:
      return &Unary<HardSwishOp>;
    case E::kMish:
      return &Unary<MishOp>;
    case E::kAdd:
      return BinaryForm<AddOp>(form);
    case E::kSub:
      return BinaryForm<SubOp>(form);
    case E::kMul:
      return BinaryForm<MulOp>(form);
    case E::kDiv:
      return BinaryForm<DivOp>(form);
    case E::kDivNoNan:
      return BinaryForm<DivNoNanOp>(form);
    case E::kMaximum:
      return BinaryForm<MaximumOp>(form);
    case E::kMinimum:
      return BinaryForm<MinimumOp>(form);
    case E::kSquaredDifference:
      return BinaryForm<SquaredDifferenceOp>(form);
    case E::kReluGrad:
      return BinaryForm<ReluGradOp>(form);
    case E::kRelu6Grad:
      return BinaryForm<Relu6GradOp>(form);
    case E::kLeakyReluGrad:
      return BinaryForm<LeakyReluGradOp>(form);
    case E::kEluGrad:
      return BinaryForm<EluGradOp>(form);
    case E::kSeluGrad:
      return BinaryForm<SeluGradOp>(form);
    case E::kSoftplusGrad:
      return BinaryForm<SoftplusGradOp>(form);
    case E::kSoftsignGrad:
      return BinaryForm<SoftsignGradOp>(form);
    case E::kTanhGrad:
      return BinaryForm<TanhGradOp>(form);
    case E::kSigmoidGrad:
      return BinaryForm<SigmoidGradOp>(form);
    case E::kSqrtGrad:
      return BinaryForm<SqrtGradOp>(form);
    case E::kRsqrtGrad:
      return BinaryForm<RsqrtGradOp>(form);
    case E::kReciprocalGrad:
      return BinaryForm<ReciprocalGradOp>(form);
    case E::kMulAdd:
      return &Ternary<MulAddOp>;
    case E::kMulAddRelu:
      return &Ternary<MulAddReluOp>;
    case E::kNumOps:
      break;
  }
  return nullptr;
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
void NarrowToBfloat16(const float* from, uint16_t* to, size_t n) {
  HWY_DYNAMIC_DISPATCH(Narrow)(from, to, n);
}
const char* VectorTargetName() { return HWY_DYNAMIC_DISPATCH(TargetName)(); }

}  // namespace tenon
#endif
