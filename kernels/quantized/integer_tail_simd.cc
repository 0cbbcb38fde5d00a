// The loops behind FindIntegerTail, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/quantized/integer_tail_simd.cc"
#include "kernels/quantized/integer_tail_simd.h"

#include <algorithm>
#include <limits>

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

constexpr size_t kRows = 4;

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

// Summand: int32_t if there is none.
template <typename Summand, typename Result, bool swish>
void ApplyTail(const IntegerTail& tail, const TailPart& p) {
  constexpr bool kFloat = std::is_same_v<Result, float>;
  const Vf sum_scale = Const(tail.sum_scale), swish_scale = Const(tail.swish_scale);
  const Vf zero = Const(tail.zero + 12582912.0f);
  const bool relu = tail.relu;
  // Before the zero point is added.
  float least = kFloat ? 0.0f : static_cast<float>(std::numeric_limits<Result>::min()) - tail.zero;
  if (relu) least = std::max(least, 0.0f);
  const Vf low = Const(least);
  const Vf high = Const(static_cast<float>(std::numeric_limits<Result>::max()) - tail.zero);
  const size_t sums_row = p.sums_row, result_row = p.row;
  const float* const scale = tail.scale + p.channel;
  const float* const bias = tail.bias + p.channel;
  // A few rows at a time: a channel's numbers are loaded once for all of them, and the results of a
  // row are still written one after the other.
  for (size_t first = 0; first < p.rows; first += kRows) {
    const size_t rows = std::min(kRows, p.rows - first);
    ForParts(p.channels, [&](auto part, size_t i) HWY_ATTR {
      const Vf bias_of = part.Load(bias + i), scale_of = part.Load(scale + i);
      const int32_t* sums = p.sums + first * p.sums_row + i;
      const Summand* summand = static_cast<const Summand*>(p.summand) + first * p.row + i;
      Result* result = static_cast<Result*>(p.result) + first * p.row + i;
      for (size_t row = 0; row < rows; ++row) {
        Vf real = hn::Mul(hn::Add(LoadSums(part, sums), bias_of), scale_of);
        if constexpr (sizeof(Summand) == 1) {
          real = hn::MulAdd(LoadIntegers(part, summand), sum_scale, real);
        }
        if constexpr (swish) {
          // An 8-bit result differs by less than 1/16 before it is rounded; floats that come from
          // 8-bit integers have far larger errors.
          real = QuickSwish<kFloat>(real);
          if constexpr (!kFloat) real = hn::Mul(swish_scale, real);
        }
        if constexpr (kFloat) {
          if (relu) real = hn::IfThenElse(hn::Lt(real, low), low, real);
          part.Store(real, result);
        } else {
          StoreBytes(part, RoundToBytes(hn::Min(hn::Max(real, low), high), zero), result);
        }
        sums += sums_row;
        summand += result_row;
        result += result_row;
      }
    });
  }
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
