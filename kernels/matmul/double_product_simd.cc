// The loops behind FindDoubleLoops, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/matmul/double_product_simd.cc"
#include "kernels/matmul/double_product_simd.h"

#include <algorithm>
#include <array>
#include <utility>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace doubles {

using DoubleTag = hn::ScalableTag<double>;
using Vd = hn::Vec<DoubleTag>;

// Sums stay in registers: rows x vectors of them, plus the vectors of a row of b and one element
// of a.
constexpr size_t kRows = 6;
constexpr size_t kVectors = HWY_TARGET <= HWY_AVX3 ? 4 : 2;
constexpr size_t kMostColumns = kVectors * hn::MaxLanes(DoubleTag());
// One row has so many: rows of b are read in longer pieces.
constexpr size_t kVectorsOfOneRow = 2 * kVectors;

struct Tile {
  const double* a;
  size_t a_row;
  const double* b;
  size_t b_row;
  size_t terms;
  bool add;
  double* out;
  size_t out_row;
};

template <size_t rows, size_t vectors>
void MultiplyTile(const Tile& t) {
  const DoubleTag d;
  const size_t lanes = hn::Lanes(d);
  Vd sums[rows][vectors];
#pragma GCC unroll 6
  for (auto& row : sums) {
#pragma GCC unroll 8
    for (Vd& sum : row) sum = hn::Zero(d);
  }
  const double* HWY_RESTRICT b = t.b;
  for (size_t k = 0; k < t.terms; ++k, b += t.b_row) {
    Vd row_of_b[vectors];
#pragma GCC unroll 8
    for (size_t v = 0; v < vectors; ++v) row_of_b[v] = hn::LoadU(d, b + v * lanes);
#pragma GCC unroll 6
    for (size_t r = 0; r < rows; ++r) {
      const Vd x = hn::Set(d, t.a[r * t.a_row + k]);
#pragma GCC unroll 8
      for (size_t v = 0; v < vectors; ++v) sums[r][v] = hn::MulAdd(x, row_of_b[v], sums[r][v]);
    }
  }
#pragma GCC unroll 6
  for (size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 8
    for (size_t v = 0; v < vectors; ++v) {
      double* const to = t.out + r * t.out_row + v * lanes;
      hn::StoreU(t.add ? hn::Add(hn::LoadU(d, to), sums[r][v]) : sums[r][v], d, to);
    }
  }
}

using TileFn = void (*)(const Tile&);
using TileFns = std::array<TileFn, kRows>;  // by rows - 1
template <size_t vectors, size_t... rows>
constexpr TileFns TilesOf(std::index_sequence<rows...>) {
  return {MultiplyTile<rows + 1, vectors>...};
}
template <size_t... vectors>
constexpr std::array<TileFns, kVectors> AllTiles(std::index_sequence<vectors...>) {
  return {TilesOf<vectors + 1>(std::make_index_sequence<kRows>())...};
}

// Columns that do not fill a vector go through a buffer.
void MultiplyPart(Tile t, TileFn multiply, size_t rows, size_t columns) {
  HWY_ALIGN double whole[kRows * kMostColumns];
  double* const out = t.out;
  const size_t out_row = t.out_row;
  const bool add = std::exchange(t.add, false);
  t.out = whole;
  t.out_row = kMostColumns;
  multiply(t);
  for (size_t r = 0; r < rows; ++r) {
    const double* const from = whole + r * kMostColumns;
    double* const to = out + r * out_row;
    for (size_t j = 0; j < columns; ++j) to[j] = add ? to[j] + from[j] : from[j];
  }
}

// A strip of b as [terms, width], with zeros beyond its columns.
void PackStrip(const DoubleBlock& p, size_t column, size_t columns, size_t width) {
  for (size_t k = 0; k < p.terms; ++k) {
    double* const to = p.panel + k * width;
    std::copy_n(p.b + k * p.b_row + column, columns, to);
    std::fill_n(to + columns, width - columns, 0.0);
  }
}

// The first rows of the columns from `column` on.
Tile TileAt(const DoubleBlock& p, size_t column) {
  return {.a = p.a,
          .a_row = p.a_row,
          .b = p.b + column,
          .b_row = p.b_row,
          .terms = p.terms,
          .add = p.add,
          .out = p.out + column,
          .out_row = p.out_row};
}

void MultiplyBlock(const DoubleBlock& p) {
  static constexpr auto kTiles = AllTiles(std::make_index_sequence<kVectors>());
  const size_t lanes = hn::Lanes(DoubleTag());
  const size_t groups = (p.rows + kRows - 1) / kRows;
  size_t j = 0;
  for (; p.rows == 1 && j + kVectorsOfOneRow * lanes <= p.columns; j += kVectorsOfOneRow * lanes) {
    MultiplyTile<1, kVectorsOfOneRow>(TileAt(p, j));
  }
  for (; j < p.columns; j += kVectors * lanes) {
    const size_t columns = std::min(kVectors * lanes, p.columns - j);
    const size_t vectors = (columns + lanes - 1) / lanes;
    const bool whole = columns % lanes == 0;
    Tile t = TileAt(p, j);
    if (!whole || groups > 1) {
      t.b = p.panel;
      t.b_row = vectors * lanes;
      PackStrip(p, j, columns, t.b_row);
    }
    const auto& tiles = kTiles[vectors - 1];
    for (size_t g = 0, row = 0; g < groups; ++g) {
      const size_t rows = (p.rows - row + groups - g - 1) / (groups - g);
      t.a = p.a + row * p.a_row;
      t.out = p.out + row * p.out_row + j;
      if (whole) {
        tiles[rows - 1](t);
      } else {
        MultiplyPart(t, tiles[rows - 1], rows, columns);
      }
      row += rows;
    }
  }
}

DoubleLoops Loops() { return {&MultiplyBlock, kRows, kVectors * hn::Lanes(DoubleTag())}; }

}  // namespace doubles

DoubleLoops DoubleProductLoops() { return doubles::Loops(); }

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(DoubleProductLoops);

DoubleLoops FindDoubleLoops() { return HWY_DYNAMIC_DISPATCH(DoubleProductLoops)(); }

}  // namespace tenon
#endif
