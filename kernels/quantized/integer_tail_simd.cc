// The loops behind FindIntegerTail, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/quantized/integer_tail_simd.cc"
#include "kernels/quantized/integer_tail_simd.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/simd/math-inl.h"
#include "kernels/simd/part-inl.h"
#include "kernels/simd/quick_swish-inl.h"
#include "kernels/simd/tail-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {
namespace integer_tail {

HWY_INLINE Vf LoadSums(WholePart, const int32_t* from) {
  return hn::ConvertTo(FloatTag(), hn::LoadU(IntTag(), from));
}
HWY_INLINE Vf LoadSums(RestPart part, const int32_t* from) {
  return hn::ConvertTo(FloatTag(), LoadFirst(IntTag(), from, part.n));
}
template <typename T>
HWY_INLINE Vf LoadIntegers(WholePart, const T* from) {
  const hn::Rebind<T, FloatTag> narrow;
  return hn::ConvertTo(FloatTag(), hn::PromoteTo(IntTag(), hn::LoadU(narrow, from)));
}
template <typename T>
HWY_INLINE Vf LoadIntegers(RestPart part, const T* from) {
  const hn::Rebind<T, FloatTag> narrow;
  return hn::ConvertTo(FloatTag(), hn::PromoteTo(IntTag(), LoadFirst(narrow, from, part.n)));
}
// The low bytes.
using ByteTag = hn::Rebind<uint8_t, FloatTag>;
HWY_INLINE void StoreBytes(WholePart, hn::Vec<ByteTag> v, void* to) {
  hn::StoreU(v, ByteTag(), static_cast<uint8_t*>(to));
}
HWY_INLINE void StoreBytes(RestPart part, hn::Vec<ByteTag> v, void* to) {
  StoreFirst(ByteTag(), v, static_cast<uint8_t*>(to), part.n);
}

// The nearest integers to x + zero, as bytes, for small numbers: the lowest bits of their sums with
// 1.5 * 2^23, which `zero` includes.
HWY_INLINE hn::Vec<ByteTag> RoundToBytes(Vf x, Vf zero) {
  const hn::RebindToUnsigned<FloatTag> du;
  return hn::TruncateTo(ByteTag(), hn::BitCast(du, hn::Add(x, zero)));
}

// What all rows share.
struct TailConstants {
  Vf sum_scale, swish_scale, zero, low, high;
  bool relu;
};

// n rows of a vector of channels. Summand: int32_t if there is none.
template <typename Summand, typename Result, bool swish, size_t n, class Part>
HWY_INLINE void ApplyRows(const TailConstants& c, Part part, Vf bias, Vf scale, const int32_t* sums,
                          size_t sums_row, const Summand* summand, Result* result, size_t row) {
  constexpr bool kFloat = std::is_same_v<Result, float>;
  Vf real[n];
#pragma GCC unroll 8
  for (size_t i = 0; i < n; ++i) {
    real[i] = hn::Mul(hn::Add(LoadSums(part, sums + i * sums_row), bias), scale);
    if constexpr (sizeof(Summand) == 1) {
      real[i] = hn::MulAdd(LoadIntegers(part, summand + i * row), c.sum_scale, real[i]);
    }
  }
  // An 8-bit result differs by less than 1/16 before it is rounded; floats that come from 8-bit
  // integers have far larger errors.
  if constexpr (swish) QuickSwish<kFloat>(real);
#pragma GCC unroll 8
  for (size_t i = 0; i < n; ++i) {
    if constexpr (kFloat) {
      if (c.relu) real[i] = hn::IfThenElse(hn::Lt(real[i], c.low), c.low, real[i]);
      part.Store(real[i], result + i * row);
    } else {
      if constexpr (swish) real[i] = hn::Mul(c.swish_scale, real[i]);
      StoreBytes(part, RoundToBytes(hn::Min(hn::Max(real[i], c.low), c.high), c.zero),
                 result + i * row);
    }
  }
}

template <typename Summand, typename Result, bool swish>
void ApplyTail(const IntegerTail& tail, const TailPart& p) {
  constexpr bool kFloat = std::is_same_v<Result, float>;
  // Bounds before the zero point is added.
  float least = kFloat ? 0.0f : static_cast<float>(std::numeric_limits<Result>::min()) - tail.zero;
  if (tail.relu) least = std::max(least, 0.0f);
  const float most = static_cast<float>(std::numeric_limits<Result>::max()) - tail.zero;
  const TailConstants c = {Const(tail.sum_scale),
                           Const(tail.swish_scale),
                           Const(tail.zero + 12582912.0f),
                           Const(least),
                           Const(most),
                           tail.relu};
  const size_t sums_row = p.sums_row, row = p.row, rows = p.rows;
  const int32_t* sums = p.sums;
  const Summand* summand = static_cast<const Summand*>(p.summand);
  Result* result = static_cast<Result*>(p.result);
  // A few rows at a time: a channel's numbers are loaded once for all of them, and the results of a
  // row are still written one after the other.
  ForRowGroups(rows, [&](auto count, size_t first) HWY_ATTR {
    ForParts(p.channels, [&](auto part, size_t i) HWY_ATTR {
      ApplyRows<Summand, Result, swish, count()>(
          c, part, part.Load(tail.bias + p.channel + i), part.Load(tail.scale + p.channel + i),
          sums + first * sums_row + i, sums_row, summand + first * row + i,
          result + first * row + i, row);
    });
  });
}

template <typename Summand, bool swish>
IntegerTailFn TailOf(TailResult result) {
  switch (result) {
    case TailResult::kSigned:
      return &ApplyTail<Summand, int8_t, swish>;
    case TailResult::kUnsigned:
      return &ApplyTail<Summand, uint8_t, swish>;
    case TailResult::kFloat:
      return &ApplyTail<Summand, float, swish>;
  }
  return nullptr;
}

template <typename Summand>
IntegerTailFn TailOf(TailResult result, bool swish) {
  return swish ? TailOf<Summand, true>(result) : TailOf<Summand, false>(result);
}

}  // namespace integer_tail

IntegerTailFn IntegerTailLoops(TailSummand summand, TailResult result, bool swish) {
  switch (summand) {
    case TailSummand::kNone:
      return integer_tail::TailOf<int32_t>(result, swish);  // not read
    case TailSummand::kSigned:
      return integer_tail::TailOf<int8_t>(result, swish);
    case TailSummand::kUnsigned:
      return integer_tail::TailOf<uint8_t>(result, swish);
  }
  return nullptr;
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(IntegerTailLoops);

IntegerTailFn FindIntegerTail(TailSummand summand, TailResult result, bool swish) {
  return HWY_DYNAMIC_DISPATCH(IntegerTailLoops)(summand, result, swish);
}

}  // namespace tenon
#endif
