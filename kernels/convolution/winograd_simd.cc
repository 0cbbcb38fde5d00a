// The loops behind FindWinogradLoops, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/convolution/winograd_simd.cc"
#include "kernels/convolution/winograd_simd.h"

#include <array>
#include <utility>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/simd/part-inl.h"
#if HWY_ARCH_X86
#include "kernels/simd/sums_avx2.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

// One dimension of the transforms: kIn values, s apart, to kIn or kOut values, t apart. Toom-Cook
// at the points 0, 1, -1 and infinity.
struct Tile2 {
  static constexpr size_t kIn = 4, kOut = 2;

  template <size_t s, size_t t>
  static HWY_INLINE void Input(const Vf* d, Vf* r) {
    r[0] = hn::Sub(d[0], d[2 * s]);
    r[t] = hn::Add(d[s], d[2 * s]);
    r[2 * t] = hn::Sub(d[2 * s], d[s]);
    r[3 * t] = hn::Sub(d[3 * s], d[s]);
  }
  template <size_t s, size_t t>
  static HWY_INLINE void Output(const Vf* m, Vf* y) {
    y[0] = hn::Add(m[0], hn::Add(m[s], m[2 * s]));
    y[t] = hn::Add(hn::Sub(m[s], m[2 * s]), m[3 * s]);
  }
  template <size_t s, size_t t>
  static HWY_INLINE void Filter(const Vf* g, Vf* r) {
    const Vf half = Const(0.5f);
    const Vf even = hn::Mul(half, hn::Add(g[0], g[2 * s]));
    r[0] = g[0];
    r[t] = hn::MulAdd(half, g[s], even);
    r[2 * t] = hn::NegMulAdd(half, g[s], even);
    r[3 * t] = g[2 * s];
  }
};

// At the points 0, a, -a, b, -b and infinity. 5/8 and 3/2 keep the rounding error low (about a
// fourth of that of 1 and 2) and all products exact.
struct Tile4 {
  static constexpr size_t kIn = 6, kOut = 4;
  static constexpr float a = 0.625f, b = 1.5f, aa = a * a, bb = b * b;

  template <size_t s, size_t t>
  static HWY_INLINE void Input(const Vf* d, Vf* r) {
    const Vf sum = Const(aa + bb), product = Const(aa * bb);
    r[0] = hn::MulAdd(product, d[0], hn::NegMulAdd(sum, d[2 * s], d[4 * s]));
    const Vf even_a = hn::NegMulAdd(Const(bb), d[2 * s], d[4 * s]);
    const Vf odd_a = hn::NegMulAdd(Const(bb), d[s], d[3 * s]);
    r[t] = hn::MulAdd(Const(a), odd_a, even_a);
    r[2 * t] = hn::NegMulAdd(Const(a), odd_a, even_a);
    const Vf even_b = hn::NegMulAdd(Const(aa), d[2 * s], d[4 * s]);
    const Vf odd_b = hn::NegMulAdd(Const(aa), d[s], d[3 * s]);
    r[3 * t] = hn::MulAdd(Const(b), odd_b, even_b);
    r[4 * t] = hn::NegMulAdd(Const(b), odd_b, even_b);
    r[5 * t] = hn::MulAdd(product, d[s], hn::NegMulAdd(sum, d[3 * s], d[5 * s]));
  }
  template <size_t s, size_t t>
  static HWY_INLINE void Output(const Vf* m, Vf* y) {
    const Vf even_a = hn::Add(m[s], m[2 * s]), odd_a = hn::Sub(m[s], m[2 * s]);
    const Vf even_b = hn::Add(m[3 * s], m[4 * s]), odd_b = hn::Sub(m[3 * s], m[4 * s]);
    y[0] = hn::Add(hn::Add(m[0], even_a), even_b);
    y[t] = hn::MulAdd(Const(a), odd_a, hn::Mul(Const(b), odd_b));
    y[2 * t] = hn::MulAdd(Const(aa), even_a, hn::Mul(Const(bb), even_b));
    y[3 * t] = hn::MulAdd(Const(a * aa), odd_a, hn::MulAdd(Const(b * bb), odd_b, m[5 * s]));
  }
  // (g0 + p g1 + p^2 g2) / product over the other points q of (p - q)
  template <size_t s, size_t t>
  static HWY_INLINE void Filter(const Vf* g, Vf* r) {
    constexpr float at_a = 1 / (2 * aa * (aa - bb)), at_b = 1 / (2 * bb * (bb - aa));
    r[0] = hn::Mul(Const(1 / (aa * bb)), g[0]);
    const Vf even_a = hn::MulAdd(Const(aa), g[2 * s], g[0]), odd_a = hn::Mul(Const(a), g[s]);
    r[t] = hn::Mul(Const(at_a), hn::Add(even_a, odd_a));
    r[2 * t] = hn::Mul(Const(at_a), hn::Sub(even_a, odd_a));
    const Vf even_b = hn::MulAdd(Const(bb), g[2 * s], g[0]), odd_b = hn::Mul(Const(b), g[s]);
    r[3 * t] = hn::Mul(Const(at_b), hn::Add(even_b, odd_b));
    r[4 * t] = hn::Mul(Const(at_b), hn::Sub(even_b, odd_b));
    r[5 * t] = g[2 * s];
  }
};

template <class Tile, typename T>
void Input(const WinogradInput& in) {
  constexpr size_t n = Tile::kIn;
  const size_t lanes = hn::Lanes(FloatTag());
  float* out = in.out;
  auto transform = [&](auto part, size_t c) {
    Vf columns[n * n];
    for (size_t j = 0; j < n; ++j) {
      Vf d[n];
      for (size_t i = 0; i < n; ++i) d[i] = part.Load(static_cast<const T*>(in.at[i * n + j]) + c);
      Tile::template Input<1, n>(d, columns + j);
    }
    for (size_t i = 0; i < n; ++i) {
      Vf r[n];
      Tile::template Input<1, 1>(columns + i * n, r);
      for (size_t j = 0; j < n; ++j) {
        hn::StoreU(r[j], FloatTag(), out + (i * n + j) * in.position_stride);
      }
    }
    out += in.block_stride;
  };
  size_t c = 0;
  for (; c + lanes <= in.channels; c += lanes) transform(WholePart(), c);
  if (c == in.channels) return;
  c == 0 ? transform(RestPart{in.channels}, 0) : transform(WholePart(), in.channels - lanes);
}

template <class Tile, typename T>
void Output(const WinogradOutput& o) {
  constexpr size_t n = Tile::kIn, m = Tile::kOut;
  const T* const biases = static_cast<const T*>(o.bias);
  const T* const addend = static_cast<const T*>(o.addend);
  T* const out = static_cast<T*>(o.out);
  ForParts(o.channels, [&](auto part, size_t c) {
    Vf columns[m * n];
    for (size_t j = 0; j < n; ++j) {
      Vf v[n];
      for (size_t i = 0; i < n; ++i) {
        v[i] = hn::LoadU(FloatTag(), o.in + (i * n + j) * o.position_stride + c);
      }
      Tile::template Output<1, n>(v, columns + j);
    }
    const Vf bias = biases == nullptr ? hn::Zero(FloatTag()) : part.Load(biases + c);
    const Vf six = Const(6.0f);
    for (size_t i = 0; i < m; ++i) {
      if (i >= o.rows) break;
      Vf y[m];
      Tile::template Output<1, 1>(columns + i * n, y);
      for (size_t j = 0; j < m; ++j) {
        if (j >= o.columns) break;
        const size_t at = i * o.row_stride + j * o.column_stride + c;
        Vf v = biases == nullptr ? y[j] : hn::Add(y[j], bias);
        if (addend != nullptr) v = hn::Add(v, part.Load(addend + at));
        if (o.clamp_low) v = hn::IfThenZeroElse(hn::Lt(v, hn::Zero(FloatTag())), v);
        if (o.clamp_high) v = hn::IfThenElse(hn::Gt(v, six), six, v);
        part.Store(v, out + at);
      }
    }
  });
}

template <class Tile>
void Filter(const WinogradFilter& f) {
  constexpr size_t n = Tile::kIn;
  const size_t lanes = hn::Lanes(FloatTag());
  auto transform = [&](auto part, size_t o) {
    Vf columns[n * 3];
    for (size_t j = 0; j < 3; ++j) {
      Vf g[3];
      for (size_t i = 0; i < 3; ++i) g[i] = part.Load(f.taps + (i * 3 + j) * f.tap_stride + o);
      Tile::template Filter<1, 3>(g, columns + j);
    }
    for (size_t i = 0; i < n; ++i) {
      Vf r[n];
      Tile::template Filter<1, 1>(columns + i * 3, r);
      for (size_t j = 0; j < n; ++j) {
        hn::StoreU(r[j], FloatTag(), f.out + (i * n + j) * f.position_stride + o);
      }
    }
  };
  ForParts(f.outputs, transform);
  for (size_t o = (f.outputs + lanes - 1) / lanes * lanes; o < f.width; o += lanes) {
    for (size_t i = 0; i < n * n; ++i) {
      hn::StoreU(hn::Zero(FloatTag()), FloatTag(), f.out + i * f.position_stride + o);
    }
  }
}

// Sums stay in registers: rows x vectors of them, plus two vectors of b and one element of a.
constexpr size_t kMaxRows = HWY_TARGET <= HWY_AVX3 ? 12 : 6;

// Channels that one accumulator sums. The transform of the results multiplies rounding errors by
// about 5, so sums are shorter than those of direct convolutions.
constexpr size_t kSumChannels = 64;

// Stores the sums, or adds them to out, and clears them.
template <size_t rows, size_t vectors>
HWY_INLINE void StoreSums(Vf (&sums)[rows][vectors], bool add, float* out) {
  const FloatTag d;
  constexpr size_t lanes = hn::MaxLanes(FloatTag());
  if (add) {
#pragma GCC unroll 16
    for (size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 2
      for (size_t v = 0; v < vectors; ++v) {
        sums[r][v] = hn::Add(hn::LoadU(d, out + (r * vectors + v) * lanes), sums[r][v]);
      }
    }
  }
#pragma GCC unroll 16
  for (size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 2
    for (size_t v = 0; v < vectors; ++v) {
      hn::StoreU(sums[r][v], d, out + (r * vectors + v) * lanes);
      sums[r][v] = hn::Zero(d);
    }
  }
}

#if HWY_TARGET == HWY_AVX2
// Whole blocks of channels of one segment.
template <size_t rows>
HWY_INLINE void WholeBlocks(const WinogradProduct& p, size_t row, float* out) {
  constexpr size_t lanes = hn::MaxLanes(FloatTag()), width = 2 * lanes;
  static_assert(lanes == RowSums::kStep);
  HWY_ALIGN float sums[6 * width];
  for (size_t c = 0; c < p.channels; c += kSumChannels) {
    ComputeRowSums<rows>({.a = p.a[0] + c / lanes * p.block_stride + row * lanes,
                          .a_row = lanes * sizeof(float),
                          .a_step = p.block_stride * sizeof(float),
                          .w = p.b + c * width,
                          .w_second = p.b + c * width + lanes,
                          .w_row = width * sizeof(float),
                          .ahead = p.b,
                          .ahead_step = 0,
                          .steps = std::min(kSumChannels, p.channels - c) / lanes,
                          .sums = sums});
    Vf loaded[rows][2];
#pragma GCC unroll 6
    for (size_t r = 0; r < rows; ++r) {
      loaded[r][0] = hn::Load(FloatTag(), sums + r * width);
      loaded[r][1] = hn::Load(FloatTag(), sums + r * width + lanes);
    }
    StoreSums(loaded, c > 0, out);
  }
}
#endif

template <size_t rows, size_t vectors>
HWY_INLINE void Rows(const WinogradProduct& p, size_t row, float* out) {
  const FloatTag d;
  constexpr size_t lanes = hn::MaxLanes(FloatTag());
#if HWY_TARGET == HWY_AVX2
  if constexpr (rows >= 4 && vectors == 2) {
    if (p.segments == 1 && p.channels % lanes == 0) return WholeBlocks<rows>(p, row, out);
  }
#endif
  const float* b = p.b;
  Vf sums[rows][vectors];
  for (auto& of_row : sums) {
    for (Vf& sum : of_row) sum = hn::Zero(d);
  }
  bool add = false;
  size_t summed = 0;
  for (size_t s = 0; s < p.segments; ++s) {
    const float* a = p.a[s] + row * lanes;
    for (size_t left = p.channels; left > 0; a += p.block_stride) {
      if (summed >= kSumChannels) {
        StoreSums(sums, add, out);
        add = true;
        summed = 0;
      }
      const size_t n = left < lanes ? left : lanes;
      const size_t first = n < p.channels ? lanes - n : 0;
      for (size_t c = first; c < first + n; ++c) {
        Vf weights[vectors];
        for (size_t v = 0; v < vectors; ++v) weights[v] = hn::LoadU(d, b + v * lanes);
        b += vectors * lanes;
        for (size_t r = 0; r < rows; ++r) {
          const Vf x = hn::Set(d, a[r * lanes + c]);
          for (size_t v = 0; v < vectors; ++v) sums[r][v] = hn::MulAdd(x, weights[v], sums[r][v]);
        }
      }
      left -= n;
      summed += n;
    }
  }
  StoreSums(sums, add, out);
}

using RowsFn = void (*)(const WinogradProduct&, size_t, float*);
template <size_t rows, size_t vectors>
void RowsOf(const WinogradProduct& p, size_t row, float* out) {
  Rows<rows, vectors>(p, row, out);
}
template <size_t vectors, size_t... rows>
constexpr std::array<RowsFn, sizeof...(rows)> RowsTable(std::index_sequence<rows...>) {
  return {RowsOf<rows + 1, vectors>...};
}

void Product(const WinogradProduct& p) {
  static constexpr auto kOne = RowsTable<1>(std::make_index_sequence<kMaxRows>());
  static constexpr auto kTwo = RowsTable<2>(std::make_index_sequence<kMaxRows>());
  const size_t lanes = hn::Lanes(FloatTag());
  const auto& table = p.width > lanes ? kTwo : kOne;
  const size_t groups = (p.tiles + kMaxRows - 1) / kMaxRows;
  size_t row = 0;
  for (size_t g = 0; g < groups; ++g) {
    const size_t rows = (p.tiles - row + groups - g - 1) / (groups - g);
    table[rows - 1](p, row, p.out + row * p.width);
    row += rows;
  }
}

template <typename T>
WinogradLoops LoopsOf(WinogradTile tile) {
  const size_t lanes = hn::Lanes(FloatTag());
  if (tile == WinogradTile::k2x2) {
    return {lanes, Input<Tile2, T>, Product, Output<Tile2, T>, Filter<Tile2>};
  }
  return {lanes, Input<Tile4, T>, Product, Output<Tile4, T>, Filter<Tile4>};
}
WinogradLoops LoopsFor(WinogradTile tile, WinogradElement element) {
  return element == WinogradElement::kFloat ? LoopsOf<float>(tile) : LoopsOf<uint16_t>(tile);
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(LoopsFor);

WinogradLoops FindWinogradLoops(WinogradTile tile, WinogradElement element) {
  return HWY_DYNAMIC_DISPATCH(LoopsFor)(tile, element);
}

}  // namespace tenon
#endif
