// Sums of products of narrow numbers, for the target being compiled. A lane of a vector has a few
// terms of one sum, `kTerms`, in 4 bytes. Of integers, left numbers are unsigned, right ones
// signed, and no sum is rounded or saturated. Sums of bfloat16 are floats, as bits of int32.
#if defined(TENON_KERNELS_CONTRACTION_NARROW_DOT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNELS_CONTRACTION_NARROW_DOT_INL_H_
#undef TENON_KERNELS_CONTRACTION_NARROW_DOT_INL_H_
#else
#define TENON_KERNELS_CONTRACTION_NARROW_DOT_INL_H_
#endif

#include <cstdint>
#include <cstring>

#include "hwy/highway.h"
#include "kernels/contraction/narrow_product_simd.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using SumTag = hn::ScalableTag<int32_t>;
using SumVector = hn::Vec<SumTag>;

HWY_INLINE int32_t LoadWord(const void* from) {
  int32_t word;
  std::memcpy(&word, from, sizeof(word));
  return word;
}

// Two integers, widened to 16 bits: for every CPU.
struct DotPairs {
  static constexpr size_t kTerms = 2;
  using Left = uint16_t;
  using Right = int8_t;
  // Right terms of a vector, as they are stored: not widened.
  static HWY_INLINE SumVector LoadRight(const Right* from) {
    const hn::Repartition<int16_t, SumTag> wide;
    const hn::Rebind<Right, decltype(wide)> narrow;
    return hn::BitCast(SumTag(), hn::PromoteTo(wide, hn::LoadU(narrow, from)));
  }
  static HWY_INLINE SumVector Add(SumVector sum, SumVector left, SumVector right) {
    const hn::Repartition<int16_t, SumTag> wide;
    SumVector unused = sum;
    return hn::ReorderWidenMulAccumulate(SumTag(), hn::BitCast(wide, left),
                                         hn::BitCast(wide, right), sum, unused);
  }
};

#if HWY_TARGET == HWY_AVX3
// Four integers, for CPUs with AVX-512 VNNI. Highway's target of that name requires more
// instruction sets than this one, so the instruction is written out.
struct DotQuads {
  static constexpr size_t kTerms = 4;
  using Left = uint8_t;
  using Right = int8_t;
  static HWY_INLINE SumVector LoadRight(const Right* from) {
    return hn::BitCast(SumTag(), hn::LoadU(hn::Repartition<Right, SumTag>(), from));
  }
  static HWY_INLINE SumVector Add(SumVector sum, SumVector left, SumVector right) {
    asm("vpdpbusd %[right], %[left], %[sum]"
        : [sum] "+v"(sum.raw)
        : [left] "v"(left.raw), [right] "v"(right.raw));
    return sum;
  }
};

// Two numbers of bfloat16, for CPUs with AVX-512 BF16.
struct DotBfloat16 {
  static constexpr size_t kTerms = 2;
  using Left = uint16_t;
  using Right = uint16_t;
  static HWY_INLINE SumVector LoadRight(const Right* from) {
    return hn::BitCast(SumTag(), hn::LoadU(hn::Repartition<Right, SumTag>(), from));
  }
  static HWY_INLINE SumVector Add(SumVector sum, SumVector left, SumVector right) {
    asm("vdpbf16ps %[right], %[left], %[sum]"
        : [sum] "+v"(sum.raw)
        : [left] "v"(left.raw), [right] "v"(right.raw));
    return sum;
  }
};
#endif

// f.operator()<Dot>() with the form's sums; null if the target has none.
template <typename Result, typename F>
const Result* WithDot(NarrowForm form, F f) {
  switch (form) {
    case NarrowForm::kIntegers:
      return f.template operator()<DotPairs>();
#if HWY_TARGET == HWY_AVX3
    case NarrowForm::kIntegersVnni:
      return f.template operator()<DotQuads>();
    case NarrowForm::kBfloat16:
      return f.template operator()<DotBfloat16>();
#endif
    default:
      return nullptr;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#endif  // per target
