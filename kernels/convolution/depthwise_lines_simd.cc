// The loops behind FindDepthwiseLoops, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/convolution/depthwise_lines_simd.cc"
#include "kernels/convolution/depthwise_lines_simd.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/contraction/narrow_dot-inl.h"
#include "kernels/simd/tail-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {
namespace depthwise_lines {

constexpr size_t kOutputs = 8;  // whose sums stay in registers

// Numbers of 8 or 16 bits, as T, in the low bits of lanes.
template <typename T, bool whole>
HWY_INLINE SumVector LoadNumbers(const char* from, size_t n) {
  const hn::Rebind<T, SumTag> narrow;
  const T* const numbers = reinterpret_cast<const T*>(from);
  if constexpr (whole) return hn::PromoteTo(SumTag(), hn::LoadU(narrow, numbers));
  return hn::PromoteTo(SumTag(), LoadFirst(narrow, numbers, n));
}

// Words of `taps` taps; what stands for missing ones is not used: their weights are 0.
template <class Dot, size_t taps, bool whole>
HWY_INLINE void InterleaveTaps(const DepthwiseColumns& c, size_t first, int32_t* to) {
  // Integers are read as bytes and widened.
  using T = std::conditional_t<sizeof(typename Dot::Right) == 1, uint8_t, typename Dot::Right>;
  const SumTag d;
  constexpr int kBits = 32 / static_cast<int>(Dot::kTerms);
  const hn::Repartition<typename Dot::Left, SumTag> of_terms;
  const auto flip = hn::BitCast(d, hn::Set(of_terms, c.flip));
  // In registers: stores of vectors may change anything in memory.
  const char* rows[taps];
  size_t steps[taps];
  for (size_t t = 0; t < taps; ++t) {
    rows[t] = c.rows[first + t];
    steps[t] = c.steps[first + t];
  }
  const size_t columns = c.columns, channels = c.channels;
  const size_t next = c.column_words * hn::Lanes(d);
  for (size_t x = 0; x < columns; ++x, to += next) {
    SumVector v = LoadNumbers<T, whole>(rows[0], channels);
    if constexpr (taps > 1) {
      v = hn::Or(v, hn::ShiftLeft<kBits>(LoadNumbers<T, whole>(rows[1], channels)));
    }
    if constexpr (taps > 2) {
      v = hn::Or(v, hn::ShiftLeft<2 * kBits>(LoadNumbers<T, whole>(rows[2], channels)));
    }
    if constexpr (taps > 3) {
      v = hn::Or(v, hn::ShiftLeft<3 * kBits>(LoadNumbers<T, whole>(rows[3], channels)));
    }
    hn::StoreU(hn::Xor(v, flip), d, to);
#pragma GCC unroll 4
    for (size_t t = 0; t < taps; ++t) rows[t] += steps[t];
  }
}

template <class Dot, bool whole>
void InterleaveColumns(const DepthwiseColumns& c) {
  const size_t lanes = hn::Lanes(SumTag());
  int32_t* to = c.words;
  for (size_t first = 0; first < c.taps; first += Dot::kTerms, to += lanes) {
    const size_t taps = std::min(Dot::kTerms, c.taps - first);
    if (taps == 1) InterleaveTaps<Dot, 1, whole>(c, first, to);
    if (taps == 2) InterleaveTaps<Dot, 2, whole>(c, first, to);
    if constexpr (Dot::kTerms == 4) {
      if (taps == 3) InterleaveTaps<Dot, 3, whole>(c, first, to);
      if (taps == 4) InterleaveTaps<Dot, 4, whole>(c, first, to);
    }
  }
}

#if HWY_TARGET == HWY_AVX3
// The same for words of four taps and all 16 channels: bytes are interleaved twice.
void InterleaveQuads(const DepthwiseColumns& c) {
  const hn::FixedTag<uint8_t, 16> d;
  const hn::FixedTag<uint16_t, 8> wide;
  const auto flip = hn::Set(d, c.flip);
  const hn::FixedTag<int32_t, 4> out;
  for (size_t first = 0, word = 0; first < c.taps; first += 4, ++word) {
    const size_t taps = std::min<size_t>(4, c.taps - first);
    const char* rows[4];
    size_t steps[4];
    for (size_t t = 0; t < 4; ++t) {
      // What stands for missing taps is not used: their weights are 0.
      rows[t] = c.rows[first + std::min(t, taps - 1)];
      steps[t] = c.steps[first + std::min(t, taps - 1)];
    }
    const auto load = [](const char* from) HWY_ATTR {
      return hn::LoadU(hn::FixedTag<uint8_t, 16>(), reinterpret_cast<const uint8_t*>(from));
    };
    int32_t* to = c.words + word * 16;
    const size_t columns = c.columns, next = c.column_words * 16;
    for (size_t x = 0; x < columns; ++x, to += next) {
      const auto r0 = load(rows[0]), r1 = load(rows[1]), r2 = load(rows[2]), r3 = load(rows[3]);
#pragma GCC unroll 4
      for (size_t t = 0; t < 4; ++t) rows[t] += steps[t];
      const auto low01 = hn::BitCast(wide, hn::Xor(hn::InterleaveLower(d, r0, r1), flip));
      const auto low23 = hn::BitCast(wide, hn::Xor(hn::InterleaveLower(d, r2, r3), flip));
      const auto high01 = hn::BitCast(wide, hn::Xor(hn::InterleaveUpper(d, r0, r1), flip));
      const auto high23 = hn::BitCast(wide, hn::Xor(hn::InterleaveUpper(d, r2, r3), flip));
      hn::StoreU(hn::BitCast(out, hn::InterleaveLower(wide, low01, low23)), out, to);
      hn::StoreU(hn::BitCast(out, hn::InterleaveUpper(wide, low01, low23)), out, to + 4);
      hn::StoreU(hn::BitCast(out, hn::InterleaveLower(wide, high01, high23)), out, to + 8);
      hn::StoreU(hn::BitCast(out, hn::InterleaveUpper(wide, high01, high23)), out, to + 12);
    }
  }
}
#endif

template <class Dot>
void Interleave(const DepthwiseColumns& c) {
  if (c.channels == hn::Lanes(SumTag())) {
#if HWY_TARGET == HWY_AVX3
    if constexpr (Dot::kTerms == 4) return InterleaveQuads(c);
#endif
    InterleaveColumns<Dot, true>(c);
  } else {
    InterleaveColumns<Dot, false>(c);
  }
}

template <class Dot, size_t outputs>
void SumSome(const DepthwiseSums& p, const int32_t* words, int32_t* to) {
  const SumTag d;
  const size_t lanes = hn::Lanes(d);
  const size_t column = p.column_words * lanes, next = p.stride * column;
  SumVector sums[outputs];
  const SumVector start = hn::LoadU(d, p.start);
#pragma GCC unroll 8
  for (SumVector& sum : sums) sum = start;
  const int32_t* HWY_RESTRICT filter = p.filter;
  for (size_t kx = 0; kx < p.window; ++kx) {
    const int32_t* HWY_RESTRICT from = words + kx * p.dilation * column;
    for (size_t w = 0; w < p.window_words; ++w, filter += lanes, from += lanes) {
      const SumVector weights = hn::LoadU(d, filter);
#pragma GCC unroll 8
      for (size_t x = 0; x < outputs; ++x) {
        sums[x] = Dot::Add(sums[x], hn::LoadU(d, from + x * next), weights);
      }
    }
  }
#pragma GCC unroll 8
  for (size_t x = 0; x < outputs; ++x) hn::StoreU(sums[x], d, to + x * p.sums_row);
}

template <class Dot, size_t... outputs>
HWY_INLINE void SumUpTo(const DepthwiseSums& p, size_t count, const int32_t* words, int32_t* to,
                        std::index_sequence<outputs...>) {
  static_cast<void>(
      ((count == outputs + 1 && (SumSome<Dot, outputs + 1>(p, words, to), true)) || ...));
}

template <class Dot>
void Sum(const DepthwiseSums& p) {
  const size_t next = p.stride * p.column_words * hn::Lanes(SumTag());
  // Pieces of about the same size.
  const size_t pieces = (p.outputs + kOutputs - 1) / kOutputs;
  for (size_t i = 0, x = 0; i < pieces; ++i) {
    const size_t count = (p.outputs - x + pieces - i - 1) / (pieces - i);
    SumUpTo<Dot>(p, count, p.words + x * next, p.sums + x * p.sums_row,
                 std::make_index_sequence<kOutputs>());
    x += count;
  }
}

template <class Dot>
const DepthwiseLoops* Get() {
  static const DepthwiseLoops loops = {hn::Lanes(SumTag()), Dot::kTerms, &Interleave<Dot>,
                                       &Sum<Dot>};
  return &loops;
}

}  // namespace depthwise_lines

const DepthwiseLoops* DepthwiseLineLoops(NarrowForm form) {
  return WithDot<DepthwiseLoops>(form, []<class Dot>() { return depthwise_lines::Get<Dot>(); });
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(DepthwiseLineLoops);

const DepthwiseLoops* FindDepthwiseLoops(NarrowForm form) {
  return HWY_DYNAMIC_DISPATCH(DepthwiseLineLoops)(form);
}

}  // namespace tenon
#endif
