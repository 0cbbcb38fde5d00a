// The loops behind FindDenseLoops, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/matmul/dense_product_simd.cc"
#include "kernels/matmul/dense_product_simd.h"

#include <algorithm>
#include <array>
#include <utility>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/simd/part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {
namespace dense {

template <typename T>
using Tag = hn::ScalableTag<T>;

// Sums stay in registers: rows x vectors of them, plus the vectors of a row of b and one element
// of a.
constexpr size_t kRows = 6;
constexpr size_t kVectors = HWY_TARGET <= HWY_AVX3 ? 4 : 2;
template <typename T>
constexpr size_t kMostColumns = kVectors* hn::MaxLanes(Tag<T>());
// One row has so many: rows of b are read in longer pieces.
constexpr size_t kVectorsOfOneRow = 2 * kVectors;

template <typename T, class V>
HWY_INLINE V AddProduct(V x, V y, V sum) {
  if constexpr (hwy::IsFloat<T>()) {
    return hn::MulAdd(x, y, sum);
  } else {
    return hn::Add(hn::Mul(x, y), sum);
  }
}

template <typename T>
struct Tile {
  const T* a;
  size_t a_row;
  const T* b;
  size_t b_row;
  size_t terms;
  bool add;
  T* out;
  size_t out_row;
};

template <size_t rows, size_t vectors, typename T>
void MultiplyTile(const Tile<T>& t) {
  using V = hn::Vec<Tag<T>>;
  const Tag<T> d;
  const size_t lanes = hn::Lanes(d);
  V sums[rows][vectors];
#pragma GCC unroll 6
  for (auto& row : sums) {
#pragma GCC unroll 8
    for (V& sum : row) sum = hn::Zero(d);
  }
  const T* HWY_RESTRICT b = t.b;
  for (size_t k = 0; k < t.terms; ++k, b += t.b_row) {
    V row_of_b[vectors];
#pragma GCC unroll 8
    for (size_t v = 0; v < vectors; ++v) row_of_b[v] = hn::LoadU(d, b + v * lanes);
#pragma GCC unroll 6
    for (size_t r = 0; r < rows; ++r) {
      const V x = hn::Set(d, t.a[r * t.a_row + k]);
#pragma GCC unroll 8
      for (size_t v = 0; v < vectors; ++v) sums[r][v] = AddProduct<T>(x, row_of_b[v], sums[r][v]);
    }
  }
#pragma GCC unroll 6
  for (size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 8
    for (size_t v = 0; v < vectors; ++v) {
      T* const to = t.out + r * t.out_row + v * lanes;
      hn::StoreU(t.add ? hn::Add(hn::LoadU(d, to), sums[r][v]) : sums[r][v], d, to);
    }
  }
}

template <typename T>
using TileFn = void (*)(const Tile<T>&);
template <typename T>
using TileFns = std::array<TileFn<T>, kRows>;  // by rows - 1
template <typename T, size_t vectors, size_t... rows>
constexpr TileFns<T> TilesOf(std::index_sequence<rows...>) {
  return {MultiplyTile<rows + 1, vectors, T>...};
}
template <typename T, size_t... vectors>
constexpr std::array<TileFns<T>, kVectors> AllTiles(std::index_sequence<vectors...>) {
  return {TilesOf<T, vectors + 1>(std::make_index_sequence<kRows>())...};
}

// Columns that do not fill a vector go through a buffer.
template <typename T>
void MultiplyPart(Tile<T> t, TileFn<T> multiply, size_t rows, size_t columns) {
  HWY_ALIGN T whole[kRows * kMostColumns<T>];
  T* const out = t.out;
  const size_t out_row = t.out_row;
  const bool add = std::exchange(t.add, false);
  t.out = whole;
  t.out_row = kMostColumns<T>;
  multiply(t);
  for (size_t r = 0; r < rows; ++r) {
    const T* const from = whole + r * kMostColumns<T>;
    T* const to = out + r * out_row;
    for (size_t j = 0; j < columns; ++j) to[j] = add ? to[j] + from[j] : from[j];
  }
}

// A strip of b as [terms, width], with zeros beyond its columns.
template <typename T>
void PackStrip(const DenseBlock<T>& p, size_t column, size_t columns, size_t width) {
  for (size_t k = 0; k < p.terms; ++k) {
    T* const to = p.panel + k * width;
    std::copy_n(p.b + k * p.b_row + column, columns, to);
    std::fill_n(to + columns, width - columns, T(0));
  }
}

// The first rows of the columns from `column` on.
template <typename T>
Tile<T> TileAt(const DenseBlock<T>& p, size_t column) {
  return {.a = p.a,
          .a_row = p.a_row,
          .b = p.b + column,
          .b_row = p.b_row,
          .terms = p.terms,
          .add = p.add,
          .out = p.out + column,
          .out_row = p.out_row};
}

template <typename T>
void MultiplyBlock(const DenseBlock<T>& p) {
  static constexpr auto kTiles = AllTiles<T>(std::make_index_sequence<kVectors>());
  const size_t lanes = hn::Lanes(Tag<T>());
  const size_t groups = (p.rows + kRows - 1) / kRows;
  size_t j = 0;
  for (; p.rows == 1 && j + kVectorsOfOneRow * lanes <= p.columns; j += kVectorsOfOneRow * lanes) {
    MultiplyTile<1, kVectorsOfOneRow>(TileAt(p, j));
  }
  for (; j < p.columns; j += kVectors * lanes) {
    const size_t columns = std::min(kVectors * lanes, p.columns - j);
    const size_t vectors = (columns + lanes - 1) / lanes;
    const bool whole = columns % lanes == 0;
    Tile<T> t = TileAt(p, j);
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

template <typename T>
void MultiplyRows(const RowProducts<T>& p) {
  const Tag<T> d;
  for (size_t row = 0; row < p.rows; ++row) {
    const T* const a = p.a + static_cast<ptrdiff_t>(row) * p.a_step;
    T* const out = p.out + static_cast<ptrdiff_t>(row) * p.out_step;
    ForParts(d, p.columns, [&](auto part, size_t column) HWY_ATTR {
      auto sum = hn::Zero(d);
      for (size_t t = 0; t < p.terms; ++t) {
        sum = hn::MulAdd(part.Load(d, a + p.a_terms[t] + column),
                         part.Load(d, p.b + p.b_terms[t] + column), sum);
      }
      if (p.add) sum = hn::Add(part.Load(d, out + column), sum);
      part.Store(d, sum, out + column);
    });
  }
}

template <typename T>
DenseLoops<T> Loops() {
  return {nullptr, &MultiplyBlock<T>, kRows, kVectors * hn::Lanes(Tag<T>())};
}

}  // namespace dense

DenseLoops<float> FloatProductLoops() { return dense::Loops<float>(); }
DenseLoops<double> DoubleProductLoops() {
  auto loops = dense::Loops<double>();
  loops.multiply_rows = &dense::MultiplyRows<double>;
  return loops;
}
DenseLoops<uint32_t> IntegerProductLoops() { return dense::Loops<uint32_t>(); }

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(FloatProductLoops);
HWY_EXPORT(DoubleProductLoops);
HWY_EXPORT(IntegerProductLoops);

template <>
DenseLoops<float> FindDenseLoops() {
  return HWY_DYNAMIC_DISPATCH(FloatProductLoops)();
}
template <>
DenseLoops<double> FindDenseLoops() {
  return HWY_DYNAMIC_DISPATCH(DoubleProductLoops)();
}
template <>
DenseLoops<uint32_t> FindDenseLoops() {
  return HWY_DYNAMIC_DISPATCH(IntegerProductLoops)();
}

}  // namespace tenon
#endif
