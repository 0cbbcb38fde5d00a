// The loops behind FindRowProduct, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/matmul/row_product_simd.cc"
#include "kernels/matmul/row_product_simd.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/simd/part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

// A tile's sums stay in registers, beside the vectors of a row of w.
constexpr size_t kTileVectors = HWY_TARGET <= HWY_AVX3 ? 4 : 2;
constexpr size_t kMostTileRows = HWY_TARGET <= HWY_AVX3 ? 12 : 8;
constexpr size_t TileRows(size_t vectors) {
  constexpr size_t kSums = HWY_TARGET <= HWY_AVX3 ? 24 : 12;
  return std::min(kMostTileRows, kSums / vectors);
}

struct RowTile {
  const float* a;
  const float* w;
  size_t column;
  float* out;
};

// Zen 4 computes two half vectors in the time of a whole one.
constexpr bool kHasHalves = HWY_TARGET <= HWY_AVX3;
using HalfTag = hn::Half<FloatTag>;

// `half`: the last of the vectors is a half one.
template <size_t rows, size_t vectors, bool half>
struct RowTileSums {
  static constexpr size_t kWhole = vectors - half;
  Vf whole[rows][kWhole + 1];  // the last one is not used
  hn::Vec<HalfTag> halves[rows];
};

template <size_t rows, size_t vectors, bool half>
HWY_INLINE void ClearSums(RowTileSums<rows, vectors, half>& sums) {
#pragma GCC unroll 16
  for (size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
    for (size_t v = 0; v < vectors - half; ++v) sums.whole[r][v] = hn::Zero(FloatTag());
    if constexpr (half) sums.halves[r] = hn::Zero(HalfTag());
  }
}

// Adds the products of `terms` floats of each row, from `a` on, to the sums.
template <size_t rows, size_t vectors, bool half>
HWY_INLINE void AddRowTerms(const float* a, size_t a_row, const float* HWY_RESTRICT w, size_t width,
                            size_t terms, RowTileSums<rows, vectors, half>& sums) {
  const FloatTag d;
  const HalfTag dh;
  constexpr size_t kWhole = vectors - half;
  const size_t lanes = hn::Lanes(d);
  // A pointer for every third row: more would not fit in the registers.
  const float* base[(rows + 2) / 3];
#pragma GCC unroll 4
  for (size_t r = 0; r < rows; r += 3) base[r / 3] = a + r * a_row;
  for (size_t k = 0; k < terms; ++k, w += width) {
    Vf weights[kWhole + 1];
#pragma GCC unroll 4
    for (size_t v = 0; v < kWhole; ++v) weights[v] = hn::LoadU(d, w + v * lanes);
    hn::Vec<HalfTag> last = hn::Zero(dh);
    if constexpr (half) last = hn::LoadU(dh, w + kWhole * lanes);
#pragma GCC unroll 16
    for (size_t r = 0; r < rows; ++r) {
      const Vf all = hn::Set(d, base[r / 3][r % 3 * a_row]);
#pragma GCC unroll 4
      for (size_t v = 0; v < kWhole; ++v) {
        sums.whole[r][v] = hn::MulAdd(all, weights[v], sums.whole[r][v]);
      }
      if constexpr (half) sums.halves[r] = hn::MulAdd(hn::LowerHalf(all), last, sums.halves[r]);
    }
#pragma GCC unroll 4
    for (const float*& row : base) ++row;
  }
}

// fn(tag, part, sum, row, column) for each vector of sums, row by row. `last`: how the last vector
// is loaded and stored.
template <size_t rows, size_t vectors, bool half, class Part, class F>
HWY_INLINE void ForSums(RowTileSums<rows, vectors, half>& sums, Part last, F fn) {
  const FloatTag d;
  constexpr size_t kWhole = vectors - half;
  const size_t lanes = hn::Lanes(d);
#pragma GCC unroll 16
  for (size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
    for (size_t v = 0; v < kWhole; ++v) {
      if (v + 1 < vectors) {
        fn(d, WholePart(), sums.whole[r][v], r, v * lanes);
      } else {
        fn(d, last, sums.whole[r][v], r, v * lanes);
      }
    }
    if constexpr (half) fn(HalfTag(), last, sums.halves[r], r, kWhole * lanes);
  }
}

// Whole rows are stored one after the other, in the order of addresses.
template <size_t rows, size_t vectors, bool half, class Part>
HWY_INLINE void FinishRowTile(const RowProduct& p, const RowTile& t, Part last,
                              RowTileSums<rows, vectors, half>& sums) {
  // Values that stores cannot change.
  float* const out = t.out;
  const size_t out_row = p.out_row;
  const float* const bias = p.bias + t.column;
  const float* const addend = p.addend + (out - p.out);
  if (p.bias != nullptr) {
    ForSums(sums, last, [=](auto d, auto part, auto& sum, size_t, size_t column) HWY_ATTR {
      sum = hn::Add(sum, part.Load(d, bias + column));
    });
  }
  if (p.addend != nullptr) {
    ForSums(sums, last, [=](auto d, auto part, auto& sum, size_t row, size_t column) HWY_ATTR {
      sum = hn::Add(sum, part.Load(d, addend + row * out_row + column));
    });
  }
  if (p.clamp_low || p.clamp_high) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const float low = p.clamp_low ? 0.0f : -kInfinity, high = p.clamp_high ? 6.0f : kInfinity;
    ForSums(sums, last, [=](auto d, auto, auto& sum, size_t, size_t) HWY_ATTR {
      const auto least = hn::Set(d, low), most = hn::Set(d, high);
      // NaN stays.
      sum = hn::IfThenElse(hn::Lt(sum, least), least, sum);
      sum = hn::IfThenElse(hn::Lt(most, sum), most, sum);
    });
  }
  ForSums(sums, last, [=](auto d, auto part, auto& sum, size_t row, size_t column) HWY_ATTR {
    part.Store(d, sum, out + row * out_row + column);
  });
}

// Adds what was summed before to the sums, and keeps the results.
template <size_t rows, size_t vectors, bool half>
HWY_INLINE void AddTotals(bool first, float* totals, RowTileSums<rows, vectors, half>& sums) {
  constexpr size_t kRow = vectors * hn::MaxLanes(FloatTag());
  ForSums(sums, WholePart(), [&](auto d, auto, auto& sum, size_t row, size_t column) HWY_ATTR {
    float* const total = totals + row * kRow + column;
    if (!first) sum = hn::Add(hn::Load(d, total), sum);
    hn::Store(sum, d, total);
  });
}

// The last of a tile's vectors.
enum LastVector { kWholeVector, kPartOfVector, kPartOfHalf, kLastVectors };
constexpr LastVector LastOf(size_t lanes) {
  constexpr size_t kAll = hn::MaxLanes(FloatTag());
  if (kHasHalves && lanes <= kAll / 2) return kPartOfHalf;
  return lanes < kAll ? kPartOfVector : kWholeVector;
}

// `lanes`: of the last vector. `parts`: whether sums have several; they would take registers from
// those that have not.
template <size_t rows, size_t vectors, LastVector last, bool parts>
void ComputeRowTile(const RowProduct& p, const RowTile& t, size_t lanes) {
  constexpr bool kHalf = last == kPartOfHalf;
  RowTileSums<rows, vectors, kHalf> sums;
  if constexpr (parts) {
    HWY_ALIGN float totals[rows * vectors * hn::MaxLanes(FloatTag())];
    for (size_t k = 0; k < p.terms; k += p.part) {
      ClearSums(sums);
      AddRowTerms(t.a + k, p.a_row, t.w + k * p.width, p.width, std::min(p.part, p.terms - k),
                  sums);
      AddTotals(k == 0, totals, sums);
    }
  } else {
    ClearSums(sums);
    const float *a = t.a, *w = t.w;
    for (size_t s = 0; s < p.segments; ++s) {
      AddRowTerms(a, p.a_row, w, p.width, p.terms, sums);
      a += p.segment_step;
      w += p.terms * p.width;
    }
  }
  if constexpr (last == kWholeVector) {
    FinishRowTile<rows, vectors, kHalf>(p, t, WholePart(), sums);
  } else {
    FinishRowTile<rows, vectors, kHalf>(p, t, RestPart{lanes}, sums);
  }
}

using RowTileFn = void (*)(const RowProduct&, const RowTile&, size_t);
// By rows - 1, vectors - 1, LastVector and whether there are parts.
using RowTileFns = std::array<RowTileFn, kMostTileRows>;
using RowTileTable = std::array<std::array<std::array<RowTileFns, kTileVectors>, kLastVectors>, 2>;
template <size_t vectors, LastVector last, bool parts, size_t... rows>
constexpr void SetRowTiles(RowTileFns& fns, std::index_sequence<rows...>) {
  fns = {&ComputeRowTile<std::min(rows + 1, TileRows(vectors)), vectors, last, parts>...};
}
template <LastVector last, bool parts, size_t... vectors>
constexpr void SetVectorTiles(RowTileTable& table, std::index_sequence<vectors...>) {
  (SetRowTiles<vectors + 1, last, parts>(table[parts][last][vectors],
                                         std::make_index_sequence<kMostTileRows>()),
   ...);
}
template <bool parts>
constexpr void SetLastTiles(RowTileTable& table) {
  constexpr auto kVectorCounts = std::make_index_sequence<kTileVectors>();
  SetVectorTiles<kPartOfVector, parts>(table, kVectorCounts);
  if constexpr (kHasHalves) SetVectorTiles<kPartOfHalf, parts>(table, kVectorCounts);
  if constexpr (parts && HWY_TARGET <= HWY_AVX3) {
    // A mask of all lanes is right, too, and does not matter after a long sum.
    table[parts][kWholeVector] = table[parts][kPartOfVector];
  } else {
    SetVectorTiles<kWholeVector, parts>(table, kVectorCounts);
  }
}
constexpr RowTileTable AllRowTiles() {
  RowTileTable table{};
  SetLastTiles<false>(table);
  SetLastTiles<true>(table);
  return table;
}

void MultiplyRows(const RowProduct& p) {
  static constexpr RowTileTable kTiles = AllRowTiles();
  const size_t lanes = hn::Lanes(FloatTag());
  for (size_t column = 0; column < p.columns; column += p.width) {
    const size_t columns = std::min(p.width, p.columns - column);
    const size_t vectors = (columns + lanes - 1) / lanes;
    const size_t last = columns - (vectors - 1) * lanes;
    const RowTileFns& fns = kTiles[p.segments == 1 && p.terms > p.part][LastOf(last)][vectors - 1];
    const size_t most = TileRows(vectors), tiles = (p.rows + most - 1) / most;
    RowTile t;
    t.w = p.w + column / p.width * p.panel;
    t.column = column;
    for (size_t i = 0, row = 0; i < tiles; ++i) {
      const size_t end = p.rows * (i + 1) / tiles;
      t.a = p.a + row * p.a_row;
      t.out = p.out + row * p.out_row + column;
      fns[end - row - 1](p, t, last);
      row = end;
    }
  }
}

RowProductFn RowProductOfTarget() { return &MultiplyRows; }
RowPanels RowPanelsOfTarget(size_t columns) {
  const size_t lanes = hn::Lanes(FloatTag());
  const size_t vectors = (columns + lanes - 1) / lanes;
  const size_t panels = (vectors + kTileVectors - 1) / kTileVectors;
  const size_t of_panel = (vectors + panels - 1) / panels;
  return {of_panel * lanes, TileRows(of_panel)};
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(RowProductOfTarget);
HWY_EXPORT(RowPanelsOfTarget);

RowProductFn FindRowProduct() { return HWY_DYNAMIC_DISPATCH(RowProductOfTarget)(); }
RowPanels RowPanelsOf(size_t columns) { return HWY_DYNAMIC_DISPATCH(RowPanelsOfTarget)(columns); }

}  // namespace tenon
#endif
