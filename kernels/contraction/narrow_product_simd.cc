// The loops behind FindNarrowLoops, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/contraction/narrow_product_simd.cc"
#include "kernels/contraction/narrow_product_simd.h"

#include <cstring>
#include <utility>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/contraction/narrow_dot-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {
namespace narrow_product {

// Sums stay in registers: rows x vectors of them, plus the vectors of a word of the right side, a
// number of the left side and a product.
constexpr size_t kRows = 6;
constexpr size_t kVectors = HWY_TARGET <= HWY_AVX3 ? 4 : 2;

template <class Dot, size_t rows, size_t vectors>
void Multiply(const NarrowTile& t) {
  const SumTag d;
  const size_t lanes = hn::Lanes(d);
  SumVector sums[rows][vectors];
#pragma GCC unroll 4
  for (size_t v = 0; v < vectors; ++v) {
    const SumVector start = hn::LoadU(d, t.start + v * lanes);
#pragma GCC unroll 6
    for (size_t r = 0; r < rows; ++r) sums[r][v] = start;
  }
  const char* const left = static_cast<const char*>(t.left);
  const auto* HWY_RESTRICT right = static_cast<const typename Dot::Right*>(t.right);
  for (size_t w = 0; w < t.words; ++w, right += kVectors * lanes * Dot::kTerms) {
    SumVector of_word[vectors];
#pragma GCC unroll 4
    for (size_t v = 0; v < vectors; ++v) {
      of_word[v] = Dot::LoadRight(right + v * lanes * Dot::kTerms);
    }
#pragma GCC unroll 6
    for (size_t r = 0; r < rows; ++r) {
      const SumVector x = hn::Set(d, LoadWord(left + r * t.left_row + w * sizeof(int32_t)));
#pragma GCC unroll 4
      for (size_t v = 0; v < vectors; ++v) sums[r][v] = Dot::Add(sums[r][v], x, of_word[v]);
    }
  }
#pragma GCC unroll 6
  for (size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
    for (size_t v = 0; v < vectors; ++v) {
      hn::StoreU(sums[r][v], d, t.sums + r * t.sums_row + v * lanes);
    }
  }
}

void Widen(const uint8_t* from, size_t n, uint8_t flip, uint8_t* to) {
  if (flip == 0) {
    std::memcpy(to, from, n);
    return;
  }
  const hn::ScalableTag<uint8_t> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(hn::Xor(hn::LoadU(d, from + i), hn::Set(d, flip)), d, to + i);
  }
  for (; i < n; ++i) to[i] = from[i] ^ flip;
}

void Widen(const uint8_t* from, size_t n, uint8_t flip, uint16_t* to) {
  const hn::ScalableTag<uint16_t> d;
  const hn::Rebind<uint8_t, decltype(d)> narrow;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto bytes = hn::PromoteTo(d, hn::LoadU(narrow, from + i));
    hn::StoreU(hn::Xor(bytes, hn::Set(d, flip)), d, to + i);
  }
  for (; i < n; ++i) to[i] = from[i] ^ flip;
}

template <class Dot>
void WidenFor(const uint8_t* from, size_t n, uint8_t flip, void* to) {
  Widen(from, n, flip, static_cast<typename Dot::Left*>(to));
}

template <class Dot, size_t rows, size_t... vectors>
void SetRow(NarrowLoops& loops, std::index_sequence<vectors...>) {
  ((loops.multiply[rows][vectors] = &Multiply<Dot, rows + 1, vectors + 1>), ...);
}
template <class Dot, size_t... rows>
NarrowLoops Make(std::index_sequence<rows...>) {
  NarrowLoops loops;
  (SetRow<Dot, rows>(loops, std::make_index_sequence<kVectors>()), ...);
  loops.most_rows = kRows;
  loops.most_vectors = kVectors;
  loops.lanes = hn::Lanes(SumTag());
  loops.word_terms = Dot::kTerms;
  loops.left_bytes = sizeof(typename Dot::Left);
  if constexpr (sizeof(typename Dot::Right) == 1) loops.widen = &WidenFor<Dot>;
  return loops;
}

template <class Dot>
const NarrowLoops* Get() {
  static const NarrowLoops loops = Make<Dot>(std::make_index_sequence<kRows>());
  return &loops;
}

}  // namespace narrow_product

const NarrowLoops* NarrowProductLoops(NarrowForm form) {
  return WithDot<NarrowLoops>(form, []<class Dot>() { return narrow_product::Get<Dot>(); });
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(NarrowProductLoops);

const NarrowLoops* FindNarrowLoops(NarrowForm form) {
  return HWY_DYNAMIC_DISPATCH(NarrowProductLoops)(form);
}

}  // namespace tenon
#endif
