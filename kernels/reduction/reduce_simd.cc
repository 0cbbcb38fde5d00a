// The loops behind FindReduceRow and FindReduceColumns, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduction/reduce_simd.cc"
#include "kernels/reduction/reduce_simd.h"

#include <algorithm>
#include <cmath>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/simd/math-inl.h"
#include "kernels/simd/part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

// Struct with static Vf Of(Vf, Vf), T One(T, T) of numbers, float Start(), and Vf OfNumbers(Vf,
// Vf), which is Of where neither is NaN.
struct SumOf {
  static HWY_INLINE Vf Of(Vf a, Vf b) { return hn::Add(a, b); }
  static HWY_INLINE Vf OfNumbers(Vf a, Vf b) { return hn::Add(a, b); }
  template <typename T>
  static HWY_INLINE T One(T a, T b) {
    return a + b;
  }
  static HWY_INLINE float Start() { return 0; }
};
// `second` if that is NaN, or else `extreme`, which is hn::Max or hn::Min of something and
// `second`.
HWY_INLINE Vf NaNOrElse([[maybe_unused]] Vf second, Vf extreme) {
#if HWY_ARCH_X86
  return extreme;  // x86 takes the second operand if either is NaN
#else
  return KeepNaN(second, extreme);
#endif
}
struct MaxOf {
  static HWY_INLINE Vf Of(Vf a, Vf b) { return KeepNaN(a, NaNOrElse(b, OfNumbers(a, b))); }
  static HWY_INLINE Vf OfNumbers(Vf a, Vf b) { return hn::Max(a, b); }
  template <typename T>
  static HWY_INLINE T One(T a, T b) {
    return std::isnan(a) ? a : std::isnan(b) || a < b ? b : a;
  }
  static HWY_INLINE float Start() { return -std::numeric_limits<float>::infinity(); }
};
struct MinOf {
  static HWY_INLINE Vf Of(Vf a, Vf b) { return KeepNaN(a, NaNOrElse(b, OfNumbers(a, b))); }
  static HWY_INLINE Vf OfNumbers(Vf a, Vf b) { return hn::Min(a, b); }
  template <typename T>
  static HWY_INLINE T One(T a, T b) {
    return std::isnan(a) ? a : std::isnan(b) || b < a ? b : a;
  }
  static HWY_INLINE float Start() { return std::numeric_limits<float>::infinity(); }
};

// Values that one accumulator combines: the rounding error of a long sum is that of a short one.
constexpr size_t kPart = 32;

// x[i..end) in vectors, where end - i is a multiple of four of them.
template <class Op>
HWY_INLINE Vf Part(const float* x, size_t i, size_t end) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  Vf a0 = Const(Op::Start()), a1 = a0, a2 = a0, a3 = a0;
  for (; i < end; i += 4 * lanes) {
    a0 = Op::Of(a0, hn::LoadU(d, x + i));
    a1 = Op::Of(a1, hn::LoadU(d, x + i + lanes));
    a2 = Op::Of(a2, hn::LoadU(d, x + i + 2 * lanes));
    a3 = Op::Of(a3, hn::LoadU(d, x + i + 3 * lanes));
  }
  return Op::Of(Op::Of(a0, a1), Op::Of(a2, a3));
}

#if HWY_HAVE_SCALABLE
// The lanes combined: adds halves pairwise, so that their sum is as exact as they are.
template <class Op>
HWY_INLINE float Lanes(Vf v) {
  const FloatTag d;
  HWY_ALIGN float total[hn::MaxLanes(FloatTag())];
  hn::Store(v, d, total);
  for (size_t width = hn::Lanes(d) / 2; width > 0; width /= 2) {
    for (size_t k = 0; k < width; ++k) total[k] = Op::One(total[k], total[k + width]);
  }
  return total[0];
}
#else
// The first lane of the halves combined by `fn`, then of their halves, and so on.
template <class Fn>
HWY_INLINE float OfHalves(Vf v, Fn fn) {
  const FloatTag d;
  constexpr size_t kMost = hn::MaxLanes(FloatTag());
  if constexpr (kMost == 16) v = fn(v, hn::ConcatUpperUpper(d, v, v));
  if constexpr (kMost >= 8) v = fn(v, hn::SwapAdjacentBlocks(v));
  v = fn(v, hn::Shuffle1032(v));
  return hn::GetLane(fn(v, hn::Shuffle2301(v)));
}

// The lanes combined: adds halves pairwise, so that their sum is as exact as they are.
template <class Op>
HWY_INLINE float Lanes(Vf v) {
  if (HWY_UNLIKELY(!hn::AllFalse(FloatTag(), hn::IsNaN(v)))) {
    return OfHalves(v, [](Vf a, Vf b) HWY_ATTR { return Op::Of(a, b); });
  }
  return OfHalves(v, [](Vf a, Vf b) HWY_ATTR { return Op::OfNumbers(a, b); });
}
#endif

template <class Op>
double Row(const float* x, size_t n) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d), part = kPart * 4 * lanes;
  const size_t four = n / (4 * lanes) * 4 * lanes;
  double all = Op::Start();
  size_t i = 0;
  do {
    Vf parts = Const(Op::Start());
    for (const size_t end = std::min(four, i + kPart * part); i < end;) {
      const size_t next = std::min(end, i + part);
      parts = Op::Of(parts, Part<Op>(x, i, next));
      i = next;
    }
    if (i == four) {
      for (; i + lanes <= n; i += lanes) parts = Op::Of(parts, hn::LoadU(d, x + i));
    }
    all = Op::One(all, double{Lanes<Op>(parts)});
  } while (i < four);
  for (; i < n; ++i) all = Op::One(all, double{x[i]});
  return all;
}

// Sixteen rows at a time, added pairwise, so that `out` is read and written, and its sum rounded, a
// sixteenth as often. T: float, or uint16_t for the bits of bfloat16.
template <class Op, class T>
void Columns(const T* x, int64_t rows, int64_t stride, size_t columns, float* out) {
  int64_t r = 0;
  // fn(part, p) is the result of some rows, which begin at p.
  const auto add = [&](int64_t count, auto fn) HWY_ATTR {
    const T* const p = x + r * stride;
    ForParts(columns, [&](auto part, size_t c) HWY_ATTR {
      const Vf all = fn(part, p + c);
      part.Store(r == 0 ? all : Op::Of(part.Load(out + c), all), out + c);
    });
    r += count;
  };
  const auto two = [stride](auto part, const T* p)
                       HWY_ATTR { return Op::Of(part.Load(p), part.Load(p + stride)); };
  const auto four = [=](auto part, const T* p)
                        HWY_ATTR { return Op::Of(two(part, p), two(part, p + 2 * stride)); };
  const auto eight = [=](auto part, const T* p)
                         HWY_ATTR { return Op::Of(four(part, p), four(part, p + 4 * stride)); };
  while (r + 16 <= rows) {
    add(16, [=](auto part, const T* p)
                HWY_ATTR { return Op::Of(eight(part, p), eight(part, p + 8 * stride)); });
  }
  if (r + 8 <= rows) add(8, eight);
  if (r + 4 <= rows) add(4, four);
  while (r < rows) add(1, [](auto part, const T* p) HWY_ATTR { return part.Load(p); });
}

// Elements of a row, in the order in which they are combined; then the start, so that a sum of
// zeros is not -0.
template <class Op, size_t n>
HWY_INLINE Vf OfShortRows(Vf a, Vf b, Vf c, Vf e) {
  Vf all = Op::Of(a, b);
  if constexpr (n == 3) all = Op::Of(all, c);
  if constexpr (n == 4) all = Op::Of(all, Op::Of(c, e));
  return Op::Of(all, Const(Op::Start()));
}

template <class Op, size_t n>
void ShortRows(const float* x, size_t rows, float* out) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  const auto combined = [&](const float* from) HWY_ATTR {
    Vf a, b, c = hn::Undefined(d), e = c;
    if constexpr (n == 2) hn::LoadInterleaved2(d, from, a, b);
    if constexpr (n == 3) hn::LoadInterleaved3(d, from, a, b, c);
    if constexpr (n == 4) hn::LoadInterleaved4(d, from, a, b, c, e);
    return OfShortRows<Op, n>(a, b, c, e);
  };
  size_t i = 0;
  for (; i + lanes <= rows; i += lanes) hn::StoreU(combined(x + i * n), d, out + i);
  if (i == rows) return;
  HWY_ALIGN float last[n * hn::MaxLanes(FloatTag())] = {};
  HWY_ALIGN float results[hn::MaxLanes(FloatTag())];
  std::copy(x + i * n, x + rows * n, last);
  hn::Store(combined(last), d, results);
  std::copy(results, results + (rows - i), out + i);
}

template <class Op>
ReduceShortRowsFn ShortRowsOf(size_t n) {
  return n == 2 ? &ShortRows<Op, 2> : n == 3 ? &ShortRows<Op, 3> : &ShortRows<Op, 4>;
}
ReduceShortRowsFn ShortRowsFn(ReduceKind kind, size_t n) {
  switch (kind) {
    case ReduceKind::kSum:
      return ShortRowsOf<SumOf>(n);
    case ReduceKind::kMax:
      return ShortRowsOf<MaxOf>(n);
    case ReduceKind::kMin:
      return ShortRowsOf<MinOf>(n);
  }
  return nullptr;
}

ReduceRowFn RowFn(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::kSum:
      return &Row<SumOf>;
    case ReduceKind::kMax:
      return &Row<MaxOf>;
    case ReduceKind::kMin:
      return &Row<MinOf>;
  }
  return nullptr;
}

ReduceColumnsFn ColumnsFn(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::kSum:
      return &Columns<SumOf, float>;
    case ReduceKind::kMax:
      return &Columns<MaxOf, float>;
    case ReduceKind::kMin:
      return &Columns<MinOf, float>;
  }
  return nullptr;
}

Bfloat16ColumnsFn Bfloat16Sums() { return &Columns<SumOf, uint16_t>; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(RowFn);
HWY_EXPORT(ShortRowsFn);
HWY_EXPORT(ColumnsFn);
HWY_EXPORT(Bfloat16Sums);

ReduceRowFn FindReduceRow(ReduceKind kind) { return HWY_DYNAMIC_DISPATCH(RowFn)(kind); }
ReduceShortRowsFn FindReduceShortRows(ReduceKind kind, size_t n) {
  if (n < kLeastShortRow || n > kMostShortRow) return nullptr;
  return HWY_DYNAMIC_DISPATCH(ShortRowsFn)(kind, n);
}
ReduceColumnsFn FindReduceColumns(ReduceKind kind) { return HWY_DYNAMIC_DISPATCH(ColumnsFn)(kind); }
Bfloat16ColumnsFn FindBfloat16Sums() { return HWY_DYNAMIC_DISPATCH(Bfloat16Sums)(); }

}  // namespace tenon
#endif
