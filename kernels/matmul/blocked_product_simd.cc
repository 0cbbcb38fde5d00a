// The loops behind FindBlockedLoops, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/matmul/blocked_product_simd.cc"
#include "kernels/matmul/blocked_product_simd.h"

#include <algorithm>
#include <array>
#include <utility>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/simd/math-inl.h"
#if HWY_ARCH_X86
#include "kernels/simd/sums_avx2.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

// Sums stay in registers: rows x vectors of them, plus the vectors of a row of w and one element
// of a. With AVX-512, 6 x 4 sums take 3 % less time than 12 x 2: fewer elements of a are loaded.
constexpr size_t kVectors = HWY_TARGET <= HWY_AVX3 ? 4 : 2;
constexpr size_t MaxRows(size_t vectors) {
  if (HWY_TARGET > HWY_AVX3) return 6;
  return vectors <= 2 ? 12 : 24 / vectors;
}
constexpr size_t kMaxRows = MaxRows(1);
// With AVX2, the end of a sum costs more than reading weights from the second-level cache: one call
// for 99 x 768 x 3072 takes 5 % less time than three for 256 terms each. With AVX-512 not measured.
constexpr size_t kMostTerms = HWY_TARGET <= HWY_AVX3 ? kPartTerms : 4 * kPartTerms;
constexpr size_t kMaxColumns = kVectors * hn::MaxLanes(FloatTag());

struct BlockTile {
  const float* a;
  size_t a_row;
  const float* w;
  size_t w_row, w_vector;  // from row to row, from vector to vector
  // A part of the next columns' weights, of which so many bytes are prefetched for each term.
  const char* ahead = nullptr;
  size_t ahead_step = 0;
  size_t terms, part;
  bool add;
  float* out;
  size_t out_row;
};

template <size_t rows, size_t vectors>
using Sums = Vf[rows][vectors];

// Adds `terms` terms to the sums and goes on to those behind them. `prefetches`: a part of the
// weights of the next columns.
template <size_t rows, size_t vectors, bool prefetches>
HWY_INLINE void AddTerms(BlockTile& t, size_t terms, Sums<rows, vectors>& sums) {
  const FloatTag d;
  // A pointer for every third row: more would not fit in the registers.
  const size_t a_row = t.a_row;
  const float* base[(rows + 2) / 3];
#pragma GCC unroll 4
  for (size_t r = 0; r < rows; r += 3) base[r / 3] = t.a + r * a_row;
  const float* HWY_RESTRICT w = t.w;
  const char* ahead = t.ahead;
  for (size_t k = 0; k < terms; ++k, w += t.w_row) {
    if constexpr (prefetches) {
      __builtin_prefetch(ahead, 0, 2);
      ahead += t.ahead_step;
    }
    Vf weights[vectors];
#pragma GCC unroll 4
    for (size_t v = 0; v < vectors; ++v) weights[v] = hn::LoadU(d, w + v * t.w_vector);
#pragma GCC unroll 16
    for (size_t r = 0; r < rows; ++r) {
      const Vf x = hn::Set(d, base[r / 3][r % 3 * a_row]);
#pragma GCC unroll 4
      for (size_t v = 0; v < vectors; ++v) sums[r][v] = hn::MulAdd(x, weights[v], sums[r][v]);
    }
#pragma GCC unroll 4
    for (const float*& row : base) ++row;
  }
  t.a = base[0];
  t.w = w;
  t.ahead = ahead;
}

// The sums of `terms` terms.
template <size_t rows, size_t vectors, bool prefetches>
HWY_INLINE void SumTerms(BlockTile& t, size_t terms, Sums<rows, vectors>& sums) {
  const FloatTag d;
#if HWY_TARGET == HWY_AVX2
  if constexpr (rows >= 4 && vectors == 2) {
    constexpr size_t kStep = RowSums::kStep, kHalf = kStep / 2, kCacheLine = 64;
    const size_t steps = terms / kStep, whole = steps * kStep;
    // It prefetches one line for every four terms.
    if (steps > 0 && kHalf * t.ahead_step <= kCacheLine) {
      HWY_ALIGN float loaded[kMaxRows * kMaxColumns];
      ComputeRowSums<rows>({.a = t.a,
                            .a_row = t.a_row * sizeof(float),
                            .a_step = kStep * sizeof(float),
                            .w = t.w,
                            .w_second = t.w + t.w_vector,
                            .w_row = t.w_row * sizeof(float),
                            .ahead = prefetches ? static_cast<const void*>(t.ahead) : t.w,
                            .ahead_step = prefetches ? kHalf * t.ahead_step : 0,
                            .steps = steps,
                            .sums = loaded});
#pragma GCC unroll 16
      for (size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
        for (size_t v = 0; v < vectors; ++v) {
          sums[r][v] = hn::Load(d, loaded + (r * vectors + v) * hn::Lanes(d));
        }
      }
      t.a += whole;
      t.w += whole * t.w_row;
      if constexpr (prefetches) t.ahead += whole * t.ahead_step;
      return AddTerms<rows, vectors, prefetches>(t, terms - whole, sums);
    }
  }
#endif
#pragma GCC unroll 16
  for (auto& row : sums) {
#pragma GCC unroll 4
    for (Vf& sum : row) sum = hn::Zero(d);
  }
  AddTerms<rows, vectors, prefetches>(t, terms, sums);
}

// to[rows][vectors] = from + sums, or = sums if `from` is null. Sizes are in floats.
template <size_t rows, size_t vectors>
HWY_INLINE void StoreSums(const float* from, size_t from_row, const Sums<rows, vectors>& sums,
                          float* to, size_t to_row) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  const auto store = [&](auto sum_of) HWY_ATTR {
#pragma GCC unroll 16
    for (size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
      for (size_t v = 0; v < vectors; ++v) {
        hn::StoreU(sum_of(from + r * from_row + v * lanes, sums[r][v]), d,
                   to + r * to_row + v * lanes);
      }
    }
  };
  if (from != nullptr) {
    store([d](const float* at, Vf sum) HWY_ATTR { return hn::Add(hn::LoadU(d, at), sum); });
  } else {
    store([](const float*, Vf sum) HWY_ATTR { return sum; });
  }
}

template <size_t rows, size_t vectors, bool prefetches>
void MultiplyTile(const BlockTile& tile) {
  BlockTile t = tile;
  Sums<rows, vectors> sums;
  HWY_ALIGN float totals[rows * kMaxColumns];
  const float* before = t.add ? t.out : nullptr;  // the sum of what was added so far
  size_t before_row = t.out_row;
  size_t left = t.terms;
  for (; left > t.part; left -= t.part) {
    SumTerms<rows, vectors, prefetches>(t, t.part, sums);
    StoreSums<rows, vectors>(before, before_row, sums, totals, kMaxColumns);
    before = totals;
    before_row = kMaxColumns;
  }
  SumTerms<rows, vectors, prefetches>(t, left, sums);
  StoreSums<rows, vectors>(before, before_row, sums, t.out, t.out_row);
}

using BlockTileFn = void (*)(const BlockTile&);
using BlockTileFns = std::array<BlockTileFn, kMaxRows>;  // by rows - 1
template <size_t vectors, bool prefetches, size_t... rows>
constexpr BlockTileFns TilesOfRows(std::index_sequence<rows...>) {
  return {MultiplyTile<rows + 1, vectors, prefetches>...};
}
template <size_t vectors, bool prefetches>
constexpr BlockTileFns TilesOfVectors() {
  return TilesOfRows<vectors, prefetches>(std::make_index_sequence<MaxRows(vectors)>());
}
template <size_t... vectors>
constexpr std::array<BlockTileFns, kVectors> AllTiles(std::index_sequence<vectors...>) {
  return {TilesOfVectors<vectors + 1, false>()...};
}

// Columns that do not fill a vector go through a buffer.
void MultiplyPartOfVector(BlockTile t, BlockTileFn multiply, size_t rows, size_t columns) {
  HWY_ALIGN float whole[kMaxRows * kMaxColumns];
  float* const out = t.out;
  const size_t out_row = t.out_row;
  t.out = whole;
  t.out_row = kMaxColumns;
  const bool add = std::exchange(t.add, false);
  multiply(t);
#if HWY_TARGET <= HWY_AVX3
  // The last vector's elements are stored by a mask. With AVX2 some CPUs take longer for that than
  // for single elements.
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  for (size_t r = 0; r < rows; ++r) {
    const float* const from = whole + r * kMaxColumns;
    float* const to = out + r * out_row;
    const auto store = [&](size_t j, size_t count) HWY_ATTR {
      const Vf sum = hn::Load(d, from + j);
      const auto mask = hn::FirstN(d, count);
      hn::BlendedStore(add ? hn::Add(hn::MaskedLoad(mask, d, to + j), sum) : sum, mask, d, to + j);
    };
    for (size_t j = 0; j < columns; j += lanes) store(j, std::min(lanes, columns - j));
  }
#else
  for (size_t r = 0; r < rows; ++r) {
    for (size_t j = 0; j < columns; ++j) {
      const float sum = whole[r * kMaxColumns + j];
      float& to = out[r * out_row + j];
      to = add ? to + sum : sum;
    }
  }
#endif
}

// Prefetches p.next, a few cache lines at a time: one after the other, loads of rows that are pages
// apart would wait for memory.
class NextRows {
 public:
  NextRows(const BlockedProduct& p, size_t steps)
      : p_(p),
        lines_(p.next_terms / kLineFloats),
        left_(p.next == nullptr ? 0 : p.rows * lines_),
        step_((left_ + steps - 1) / steps) {}
  HWY_INLINE void Step() {
    for (size_t i = std::min(step_, left_); i > 0; --i) {
      --left_;
      __builtin_prefetch(p_.next + left_ / lines_ * p_.next_row + left_ % lines_ * kLineFloats, 0,
                         2);
    }
  }

 private:
  static constexpr size_t kLineFloats = 16;
  const BlockedProduct& p_;
  const size_t lines_;  // of a row
  size_t left_, step_;
};

// The weights of columns that come next, cut into a part for each of `groups` groups of rows.
// Memory is too slow to deliver all during the first group: with AVX2, 99 x 768 x 3072 takes 6 %
// longer.
class NextWeights {
 public:
  NextWeights(const float* from, const BlockedProduct& p, size_t lanes, size_t groups)
      : from_(reinterpret_cast<const char*>(from)),
        panel_(p.width == lanes ? p.panel * sizeof(float) : 0),
        bytes_(p.terms * kVectors * lanes * sizeof(float)),
        groups_(groups) {}
  const char* Part(size_t group) const {
    const size_t at = bytes_ * group / groups_;
    if (panel_ == 0) return from_ + at;
    const size_t vector = bytes_ / kVectors;
    return from_ + at / vector * panel_ + at % vector;
  }

 private:
  const char* const from_;
  const size_t panel_;  // bytes, if each vector is in one of its own
  const size_t bytes_, groups_;
};

void MultiplyBlock(const BlockedProduct& p) {
  static constexpr auto kTiles = AllTiles(std::make_index_sequence<kVectors>());
  static constexpr auto kAhead = TilesOfVectors<kVectors, true>();
  const size_t lanes = hn::Lanes(FloatTag());
  const auto groups_of = [&p](size_t vectors) {
    return (p.rows + MaxRows(vectors) - 1) / MaxRows(vectors);
  };
  const size_t strips = (p.columns + kVectors * lanes - 1) / (kVectors * lanes);
  NextRows next_rows(p, strips * groups_of(kVectors));
  const auto at = [&p](size_t j) {
    const size_t column = p.column + j;
    return p.w + column / p.width * p.panel + column % p.width;
  };
  for (size_t j = 0, next = 0; j < p.columns; j = next) {
    // A tile does not go on into the next panel, also if the columns begin in the middle of one.
    const size_t most = kVectors * lanes - (p.column + j) % (kVectors * lanes);
    const size_t columns = std::min(most, p.columns - j);
    next = j + columns;
    const size_t vectors = (columns + lanes - 1) / lanes, groups = groups_of(vectors);
    const bool whole = columns % lanes == 0;
    const float* const next_w = next < p.columns ? at(next) : p.next_w;
    const bool ahead = whole && vectors == kVectors && next_w != nullptr;
    const auto& tiles = ahead ? kAhead : kTiles[vectors - 1];
    BlockTile t;
    t.a_row = p.a_row;
    t.w = at(j);
    t.ahead_step = (kVectors * lanes * sizeof(float) + groups - 1) / groups;
    t.w_row = p.width;
    t.w_vector = p.width == lanes ? p.panel : lanes;
    t.terms = p.terms;
    t.part = p.part;
    t.add = p.add;
    t.out_row = p.out_row;
    const NextWeights next_weights(ahead ? next_w : t.w, p, lanes, groups);
    size_t row = 0;
    for (size_t g = 0; g < groups; ++g) {
      const size_t rows = (p.rows - row + groups - g - 1) / (groups - g);
      next_rows.Step();
      t.a = p.a + row * p.a_row;
      t.out = p.out + row * p.out_row + j;
      if (whole) {
        t.ahead = next_weights.Part(g);
        tiles[rows - 1](t);
      } else {
        MultiplyPartOfVector(t, tiles[rows - 1], rows, columns);
      }
      row += rows;
    }
  }
}

// Vectors side by side must be in one panel, or each the whole of its own.
bool SupportsPanels(size_t width, bool one) {
  const size_t lanes = hn::Lanes(FloatTag());
  return width == lanes || width % (one ? lanes : kVectors * lanes) == 0;
}

BlockedLoops BlockedProductLoops() {
  return {&MultiplyBlock, kVectors * hn::Lanes(FloatTag()), kMostTerms, &SupportsPanels};
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(BlockedProductLoops);

BlockedLoops FindBlockedLoops() { return HWY_DYNAMIC_DISPATCH(BlockedProductLoops)(); }

}  // namespace tenon
#endif
