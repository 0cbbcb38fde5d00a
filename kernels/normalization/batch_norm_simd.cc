// The loops behind FindBatchNormLoops, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/normalization/batch_norm_simd.cc"
#include "kernels/normalization/batch_norm_simd.h"

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/simd/part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

struct Two {
  Vf first, second;
};
HWY_INLINE Two operator+(Two a, Two b) {
  return {hn::Add(a.first, b.first), hn::Add(a.second, b.second)};
}

// sum += the terms' first, product += their second. `term(part, at, i)` is for the elements at
// `at`, of the channels from i on.
template <ChannelOrder kOrder, bool kTwo, class Term>
HWY_INLINE void Accumulate(const BatchNormPiece& p, Term term) {
  if constexpr (kOrder == ChannelOrder::kFirst) {
    Two total = {Const(0.0f), Const(0.0f)};
    ForParts(p.n, [&](auto part, size_t i) {
      const Two t = term(part, i, 0);
      total = total + Two{part.Keep(t.first), part.Keep(t.second)};
    });
    p.sum[0] += Total(total.first);
    if (kTwo) p.product[0] += Total(total.second);
    return;
  }
  const auto add = [&](auto part, size_t i, Two t) {
    part.Store(hn::Add(part.Load(p.sum + i), t.first), p.sum + i);
    if (kTwo) part.Store(hn::Add(part.Load(p.product + i), t.second), p.product + i);
  };
  const size_t n = p.n;
  size_t r = 0;
  for (; r + 4 <= p.rows; r += 4) {
    const size_t at = r * n;
    ForParts(n, [&](auto part, size_t i) {
      const Two low = term(part, at + i, i) + term(part, at + n + i, i);
      const Two high = term(part, at + 2 * n + i, i) + term(part, at + 3 * n + i, i);
      add(part, i, low + high);
    });
  }
  for (; r < p.rows; ++r) {
    ForParts(n, [&](auto part, size_t i) { add(part, i, term(part, r * n + i, i)); });
  }
}

template <class T, ChannelOrder kOrder>
struct Loops {
  template <class Part>
  static HWY_INLINE Vf PerChannel(Part part, const float* values, size_t i) {
    return kOrder == ChannelOrder::kLast ? part.Load(values + i) : Const(values[0]);
  }
  template <class Part>
  static HWY_INLINE Vf Centered(const BatchNormPiece& p, Part part, size_t at, size_t i) {
    return hn::Sub(part.Load(static_cast<const T*>(p.x) + at), PerChannel(part, p.mean, i));
  }
  template <class Part>
  static HWY_INLINE Vf Gradient(const BatchNormPiece& p, Part part, size_t at) {
    const Vf dy = part.Load(static_cast<const T*>(p.dy) + at);
    if (p.gate == nullptr) return dy;
    const Vf gate = part.Load(static_cast<const T*>(p.gate) + at);
    const auto open = hn::And(hn::Gt(gate, Const(0.0f)), hn::Le(gate, Const(p.gate_limit)));
    return hn::Mul(dy, hn::IfThenElseZero(open, Const(1.0f)));
  }

  static void Sum(const BatchNormPiece& p) {
    Accumulate<kOrder, false>(p, [&](auto part, size_t at, size_t) {
      return Two{part.Load(static_cast<const T*>(p.x) + at), Const(0.0f)};
    });
  }

  static void Squares(const BatchNormPiece& p) {
    Accumulate<kOrder, false>(p, [&](auto part, size_t at, size_t i) {
      const Vf v = Centered(p, part, at, i);
      return Two{hn::Mul(v, v), Const(0.0f)};
    });
  }

  static void GradientSums(const BatchNormPiece& p) {
    Accumulate<kOrder, true>(p, [&](auto part, size_t at, size_t i) {
      const Vf dy = Gradient(p, part, at);
      return Two{dy, hn::Mul(dy, Centered(p, part, at, i))};
    });
  }

  static void Apply(const BatchNormPiece& p) {
    for (size_t r = 0; r < p.rows; ++r) {
      ForParts(p.n, [&](auto part, size_t i) {
        const size_t at = r * p.n + i;
        Vf y = hn::MulAdd(Centered(p, part, at, i), PerChannel(part, p.scale, i),
                          PerChannel(part, p.offset, i));
        if (p.side != nullptr) y = hn::Add(y, part.Load(static_cast<const T*>(p.side) + at));
        if (p.relu) {  // NaN stays NaN
          y = hn::IfThenZeroElse(hn::Lt(y, Const(0.0f)), y);
          y = hn::IfThenElse(hn::Gt(y, Const(p.relu_limit)), Const(p.relu_limit), y);
        }
        part.Store(y, static_cast<T*>(p.y) + at);
      });
    }
  }

  static void ApplyGradient(const BatchNormPiece& p) {
    for (size_t r = 0; r < p.rows; ++r) {
      ForParts(p.n, [&](auto part, size_t i) {
        const size_t at = r * p.n + i;
        const Vf dy = Gradient(p, part, at);
        // Where statistics are constants, the curve is 0, and a NaN of x changes nothing.
        const Vf curve = PerChannel(part, p.curve, i);
        const Vf x =
            hn::IfThenZeroElse(hn::Eq(curve, hn::Zero(FloatTag())), Centered(p, part, at, i));
        const Vf bend = hn::MulAdd(x, curve, PerChannel(part, p.offset, i));
        // The scale comes last, so that an infinite one gives infinities.
        part.Store(hn::Mul(hn::Add(dy, bend), PerChannel(part, p.scale, i)),
                   static_cast<T*>(p.y) + at);
        if (p.gated != nullptr) part.Store(dy, static_cast<T*>(p.gated) + at);
      });
    }
  }

  static BatchNormLoops All() { return {Sum, Squares, Apply, GradientSums, ApplyGradient}; }
};

BatchNormLoops LoopsFor(BatchNormElement element, ChannelOrder order) {
  if (order == ChannelOrder::kLast) {
    return element == BatchNormElement::kFloat ? Loops<float, ChannelOrder::kLast>::All()
                                               : Loops<uint16_t, ChannelOrder::kLast>::All();
  }
  return element == BatchNormElement::kFloat ? Loops<float, ChannelOrder::kFirst>::All()
                                             : Loops<uint16_t, ChannelOrder::kFirst>::All();
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(LoopsFor);

BatchNormLoops FindBatchNormLoops(BatchNormElement element, ChannelOrder order) {
  return HWY_DYNAMIC_DISPATCH(LoopsFor)(element, order);
}

}  // namespace tenon
#endif
