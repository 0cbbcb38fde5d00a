// The loops behind FindPanelProduct, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/matmul/panel_product_simd.cc"
#include "kernels/matmul/panel_product_simd.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/simd/math-inl.h"

#ifndef TENON_PANEL_PRODUCT_ONCE
#define TENON_PANEL_PRODUCT_ONCE
namespace tenon {
namespace {

// Rows of weights that are expanded at a time: for few rows of a they stay in the first-level
// cache, for many in the second.
constexpr size_t kSmallBlockRows = 16;
constexpr size_t kSmallBlock = 64;
constexpr size_t kLargeBlock = 256;
constexpr size_t kMostWidth = 64;
// Rows of a up to which weights are converted in registers.
constexpr size_t kMostFewRows = 8;
// Bytes ahead of the loads: pages end the stream of the hardware's prefetchers. Floats are read so
// fast that prefetching them takes longer than it saves (Zen 4: by 28 % from the third-level cache,
// 25 % from memory).
constexpr size_t kAhead = 2048;

size_t BlockRows(const PanelProduct& p) {
  return p.m <= kSmallBlockRows ? kSmallBlock : kLargeBlock;
}

}  // namespace
}  // namespace tenon
#endif

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

constexpr size_t kVectors = HWY_TARGET <= HWY_AVX3 ? 4 : 2;
constexpr size_t kTileRows = 6;
constexpr size_t kNibbleRows = 8 / kVectors;

// How elements of each form are read.
struct Floats {
  using T = float;
  static HWY_INLINE Vf Load(const T* p) { return hn::LoadU(FloatTag(), p); }
};
struct Bfloat16s {
  using T = hwy::bfloat16_t;
  static HWY_INLINE Vf Load(const T* p) {
    return hn::PromoteTo(FloatTag(), hn::LoadU(hn::Rebind<T, FloatTag>(), p));
  }
};
struct Halfs {
  using T = hwy::float16_t;
  static HWY_INLINE Vf Load(const T* p) {
    return hn::PromoteTo(FloatTag(), hn::LoadU(hn::Rebind<T, FloatTag>(), p));
  }
};
template <typename Integer>
struct Bytes {
  using T = Integer;
  static HWY_INLINE Vf Load(const T* p) {
    const auto bytes = hn::LoadU(hn::Rebind<T, FloatTag>(), p);
    return hn::ConvertTo(FloatTag(), hn::PromoteTo(IntTag(), bytes));
  }
};

// Each 32-bit lane has the nibbles of kNibbleRows rows by kVectors vectors, row by row.
struct Nibbles {
  using T = uint8_t;
  using Vi = hn::Vec<IntTag>;
#if HWY_TARGET <= HWY_AVX3
  // The permutation looks only at the lowest four bits of an index.
  Nibbles() {
    HWY_ALIGN static constexpr float kValues[16] = {0,  1,  2,  3,  4,  5,  6,  7,
                                                    -8, -7, -6, -5, -4, -3, -2, -1};
    values = hn::Load(FloatTag(), kValues);
  }
  template <int i>
  HWY_INLINE Vf Get(Vi v) const {
    const Vi shifted = i == 0 ? v : Vi{_mm512_srli_epi32(v.raw, 4 * i)};
    return Vf{_mm512_permutexvar_ps(shifted.raw, values.raw)};
  }
  Vf values;
#else
  template <int i>
  HWY_INLINE Vf Get(Vi v) const {
    return hn::ConvertTo(FloatTag(), hn::ShiftRight<28>(hn::ShiftLeft<28 - 4 * i>(v)));
  }
#endif
  static HWY_INLINE Vi Load(const T* p) {
    return hn::LoadU(IntTag(), reinterpret_cast<const int32_t*>(p));
  }
};

HWY_INLINE Vf LoadScale(ScaleForm form, const void* from, size_t i) {
  switch (form) {
    case ScaleForm::kBfloat16:
      return Bfloat16s::Load(static_cast<const hwy::bfloat16_t*>(from) + i);
    case ScaleForm::kHalf:
      return Halfs::Load(static_cast<const hwy::float16_t*>(from) + i);
    default:
      return Floats::Load(static_cast<const float*>(from) + i);
  }
}

HWY_INLINE void PrefetchBytes(const void* from, size_t bytes) {
  const char* p = static_cast<const char*>(from) + kAhead;
  for (size_t i = 0; i < bytes; i += 64) __builtin_prefetch(p + i);
}

// sums[0] and sums[1] += a[i] * row i, for n rows.
template <class W, size_t vectors>
HWY_INLINE void AddRows(const float* HWY_RESTRICT a, const void* from, size_t n,
                        Vf (&sums)[2][vectors]) {
  const size_t lanes = hn::Lanes(FloatTag());
  const size_t width = vectors * lanes;
  const auto* w = static_cast<const typename W::T*>(from);
  size_t i = 0;
  for (; i + 2 <= n; i += 2, w += 2 * width) {
    if constexpr (!std::is_same_v<W, Floats>) PrefetchBytes(w, 2 * width * sizeof(*w));
#pragma GCC unroll 2
    for (size_t r = 0; r < 2; ++r) {
      const Vf factor = hn::Set(FloatTag(), a[i + r]);
#pragma GCC unroll 4
      for (size_t v = 0; v < vectors; ++v) {
        sums[r][v] = hn::MulAdd(factor, W::Load(w + r * width + v * lanes), sums[r][v]);
      }
    }
  }
  if (i < n) {
    const Vf factor = hn::Set(FloatTag(), a[i]);
#pragma GCC unroll 4
    for (size_t v = 0; v < vectors; ++v) {
      sums[0][v] = hn::MulAdd(factor, W::Load(w + v * lanes), sums[0][v]);
    }
  }
}

template <int i>
HWY_INLINE void AddNibble(const Nibbles& nibbles, Nibbles::Vi packed, const float* a,
                          Vf (&sums)[2][kVectors]) {
  constexpr size_t row = i / kVectors, v = i % kVectors;
  sums[row % 2][v] =
      hn::MulAdd(hn::Set(FloatTag(), a[row]), nibbles.Get<i>(packed), sums[row % 2][v]);
}
template <int... i>
HWY_INLINE void AddNibbles(std::integer_sequence<int, i...>, const Nibbles& nibbles,
                           Nibbles::Vi packed, const float* a, Vf (&sums)[2][kVectors]) {
  (AddNibble<i>(nibbles, packed, a, sums), ...);
}
// `a` is readable, and 0, up to a multiple of kNibbleRows.
template <>
HWY_INLINE void AddRows<Nibbles, kVectors>(const float* HWY_RESTRICT a, const void* from, size_t n,
                                           Vf (&sums)[2][kVectors]) {
  const Nibbles nibbles;
  const size_t step = 4 * hn::Lanes(FloatTag());
  const auto* w = static_cast<const uint8_t*>(from);
  for (size_t i = 0; i < n; i += kNibbleRows, w += step) {
    __builtin_prefetch(w + kAhead);
    AddNibbles(std::make_integer_sequence<int, 8>(), nibbles, Nibbles::Load(w), a + i, sums);
  }
}

// The bytes of n rows; whole steps of nibbles.
template <class W>
HWY_INLINE size_t RowBytes(size_t n, size_t width) {
  return n * width * sizeof(typename W::T);
}
template <>
HWY_INLINE size_t RowBytes<Nibbles>(size_t n, size_t width) {
  return n * width / 2;
}

// A panel of the single row of the output. `sums` has the sum of each group of a, for zeros.
template <class W, size_t vectors>
void OneRow(const PanelProduct& p, const PanelOperands& o, size_t panel, const float* a,
            const float* group_sums) {
  const size_t lanes = hn::Lanes(FloatTag());
  const size_t groups = (p.k + p.group - 1) / p.group;
  const char* w = static_cast<const char*>(o.weights) + panel * p.panel_bytes;
  Vf total[vectors];
#pragma GCC unroll 4
  for (size_t v = 0; v < vectors; ++v) total[v] = hn::Zero(FloatTag());
  for (size_t g = 0; g < groups; ++g) {
    const size_t begin = g * p.group, n = std::min(p.group, p.k - begin);
    Vf sums[2][vectors];
#pragma GCC unroll 4
    for (size_t v = 0; v < vectors; ++v) sums[0][v] = sums[1][v] = hn::Zero(FloatTag());
    AddRows<W, vectors>(a + begin, w, n, sums);
    w += RowBytes<W>(p.group, p.width);
    const size_t row = (panel * groups + g) * p.width;
#pragma GCC unroll 4
    for (size_t v = 0; v < vectors; ++v) {
      Vf sum = hn::Add(sums[0][v], sums[1][v]);
      if (p.scale == ScaleForm::kNone) {
        total[v] = hn::Add(total[v], sum);
        continue;
      }
      if (p.zeros) {
        const Vf zero = LoadScale(p.scale, o.zeros, row + v * lanes);
        sum = hn::NegMulAdd(hn::Set(FloatTag(), group_sums[g]), zero, sum);
      }
      total[v] = hn::MulAdd(LoadScale(p.scale, o.scales, row + v * lanes), sum, total[v]);
    }
  }
  const size_t columns = std::min(p.width, p.n - panel * p.width);
  float* const out = o.out + panel * p.width;
  HWY_ALIGN float whole[kMostWidth];
  float* const to = columns == p.width ? out : whole;
#pragma GCC unroll 4
  for (size_t v = 0; v < vectors; ++v) hn::StoreU(total[v], FloatTag(), to + v * lanes);
  if (to == whole) std::copy_n(whole, columns, out);
}

// sums[i] = a row i * the n rows of weights, for `rows` rows of a.
template <class W, size_t rows, size_t vectors>
HWY_INLINE void SumRows(const float* HWY_RESTRICT a, size_t a_row, const void* from, size_t n,
                        Vf* sums) {
  const size_t lanes = hn::Lanes(FloatTag());
  const auto* w = static_cast<const typename W::T*>(from);
  Vf sum[rows * vectors];
#pragma GCC unroll 32
  for (size_t i = 0; i < rows * vectors; ++i) sum[i] = hn::Zero(FloatTag());
  for (size_t k = 0; k < n; ++k, w += vectors * lanes) {
    if constexpr (!std::is_same_v<W, Floats>) PrefetchBytes(w, vectors * lanes * sizeof(*w));
    Vf row[vectors];
#pragma GCC unroll 4
    for (size_t v = 0; v < vectors; ++v) row[v] = W::Load(w + v * lanes);
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; ++i) {
      const Vf factor = hn::Set(FloatTag(), a[i * a_row + k]);
#pragma GCC unroll 4
      for (size_t v = 0; v < vectors; ++v) {
        sum[i * vectors + v] = hn::MulAdd(factor, row[v], sum[i * vectors + v]);
      }
    }
  }
#pragma GCC unroll 32
  for (size_t i = 0; i < rows * vectors; ++i) sums[i] = sum[i];
}
template <int index, size_t rows>
HWY_INLINE void AddNibbleRows(const Nibbles& nibbles, Nibbles::Vi packed, const float* a,
                              size_t a_row, Vf* sum) {
  constexpr size_t row = index / kVectors, v = index % kVectors;
  const Vf w = nibbles.Get<index>(packed);
#pragma GCC unroll 8
  for (size_t i = 0; i < rows; ++i) {
    sum[i * kVectors + v] =
        hn::MulAdd(hn::Set(FloatTag(), a[i * a_row + row]), w, sum[i * kVectors + v]);
  }
}
template <size_t rows, int... index>
HWY_INLINE void AddNibblesRows(std::integer_sequence<int, index...>, const Nibbles& nibbles,
                               Nibbles::Vi packed, const float* a, size_t a_row, Vf* sum) {
  (AddNibbleRows<index, rows>(nibbles, packed, a, a_row, sum), ...);
}
template <size_t rows>
HWY_INLINE void SumNibbleRows(const float* HWY_RESTRICT a, size_t a_row, const void* from, size_t n,
                              Vf* sums) {
  const Nibbles nibbles;
  const size_t step = 4 * hn::Lanes(FloatTag());
  const auto* w = static_cast<const uint8_t*>(from);
  Vf sum[rows * kVectors];
#pragma GCC unroll 32
  for (size_t i = 0; i < rows * kVectors; ++i) sum[i] = hn::Zero(FloatTag());
  for (size_t k = 0; k < n; k += kNibbleRows, w += step) {
    __builtin_prefetch(w + kAhead);
    AddNibblesRows<rows>(std::make_integer_sequence<int, 8>(), nibbles, Nibbles::Load(w), a + k,
                         a_row, sum);
  }
#pragma GCC unroll 32
  for (size_t i = 0; i < rows * kVectors; ++i) sums[i] = sum[i];
}

// The operands of few rows: a (readable up to whole steps of nibbles), and for zeros the sum of
// each of its groups.
struct FewRowsOperands {
  const float* a;
  size_t a_row;
  const float* group_sums;  // [m, groups]
};

// Adds the products of group g to `totals`, rows of a panel.
template <class W, size_t rows, size_t vectors>
void AddGroup(const PanelProduct& p, const PanelOperands& o, const FewRowsOperands& few,
              size_t panel, size_t g, size_t row, const void* w, float* totals) {
  const size_t lanes = hn::Lanes(FloatTag());
  const size_t groups = (p.k + p.group - 1) / p.group;
  const size_t begin = g * p.group, n = std::min(p.group, p.k - begin);
  const float* const a = few.a + row * few.a_row + begin;
  Vf sums[rows * vectors];
  if constexpr (std::is_same_v<W, Nibbles>) {
    SumNibbleRows<rows>(a, few.a_row, w, n, sums);
  } else {
    SumRows<W, rows, vectors>(a, few.a_row, w, n, sums);
  }
  const size_t at = (panel * groups + g) * p.width;
#pragma GCC unroll 4
  for (size_t v = 0; v < vectors; ++v) {
    Vf scale = hn::Zero(FloatTag()), zero = scale;
    if (p.scale != ScaleForm::kNone) scale = LoadScale(p.scale, o.scales, at + v * lanes);
    if (p.zeros) zero = LoadScale(p.scale, o.zeros, at + v * lanes);
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; ++i) {
      float* const to = totals + (row + i) * p.width + v * lanes;
      const Vf total = hn::Load(FloatTag(), to);
      Vf sum = sums[i * vectors + v];
      if (p.scale == ScaleForm::kNone) {
        hn::Store(hn::Add(total, sum), FloatTag(), to);
        continue;
      }
      if (p.zeros) {
        sum = hn::NegMulAdd(hn::Set(FloatTag(), few.group_sums[(row + i) * groups + g]), zero, sum);
      }
      hn::Store(hn::MulAdd(scale, sum, total), FloatTag(), to);
    }
  }
}

// A panel of 2 to kMostFewRows rows of the output: weights are converted in registers, and read
// from the first-level cache for the rows after the first four.
template <class W, size_t vectors>
void FewRows(const PanelProduct& p, const PanelOperands& o, const FewRowsOperands& few,
             size_t panel) {
  const size_t groups = (p.k + p.group - 1) / p.group;
  const char* w = static_cast<const char*>(o.weights) + panel * p.panel_bytes;
  HWY_ALIGN float totals[kMostFewRows * kMostWidth];
  std::fill_n(totals, p.m * p.width, 0.0f);
  for (size_t g = 0; g < groups; ++g, w += RowBytes<W>(p.group, p.width)) {
    size_t i = 0;
    for (; i + 4 <= p.m; i += 4) AddGroup<W, 4, vectors>(p, o, few, panel, g, i, w, totals);
    switch (p.m - i) {
      case 3:
        AddGroup<W, 3, vectors>(p, o, few, panel, g, i, w, totals);
        break;
      case 2:
        AddGroup<W, 2, vectors>(p, o, few, panel, g, i, w, totals);
        break;
      case 1:
        AddGroup<W, 1, vectors>(p, o, few, panel, g, i, w, totals);
        break;
      default:
        break;
    }
  }
  const size_t columns = std::min(p.width, p.n - panel * p.width);
  for (size_t i = 0; i < p.m; ++i) {
    std::copy_n(totals + i * p.width, columns, o.out + i * p.out_row + panel * p.width);
  }
}

template <size_t vectors>
HWY_INLINE void StoreScaled(const PanelProduct& p, const Vf* scale, const Vf* zero, size_t v, Vf x,
                            float* to) {
  if (p.zeros) x = hn::Sub(x, zero[v]);
  if (p.scale != ScaleForm::kNone) x = hn::Mul(x, scale[v]);
  hn::StoreU(x, FloatTag(), to + v * hn::Lanes(FloatTag()));
}

// Expands rows to floats, all with the same scales; nibbles by whole steps.
template <class W, size_t vectors>
HWY_INLINE void ExpandRows(const PanelProduct& p, const void* from, size_t n, const Vf* scale,
                           const Vf* zero, float* to) {
  const size_t lanes = hn::Lanes(FloatTag());
  const auto* w = static_cast<const typename W::T*>(from);
  for (size_t i = 0; i < n; ++i, w += p.width, to += p.width) {
    PrefetchBytes(w, p.width * sizeof(*w));
#pragma GCC unroll 4
    for (size_t v = 0; v < vectors; ++v) {
      StoreScaled<vectors>(p, scale, zero, v, W::Load(w + v * lanes), to);
    }
  }
}
template <int... i>
HWY_INLINE void StoreNibbles(std::integer_sequence<int, i...>, const PanelProduct& p,
                             const Nibbles& nibbles, Nibbles::Vi packed, const Vf* scale,
                             const Vf* zero, float* to) {
  (StoreScaled<kVectors>(p, scale, zero, i % kVectors, nibbles.Get<i>(packed),
                         to + i / kVectors * p.width),
   ...);
}
template <>
HWY_INLINE void ExpandRows<Nibbles, kVectors>(const PanelProduct& p, const void* from, size_t n,
                                              const Vf* scale, const Vf* zero, float* to) {
  const Nibbles nibbles;
  const size_t step = 4 * hn::Lanes(FloatTag());
  const auto* w = static_cast<const uint8_t*>(from);
  for (size_t i = 0; i < n; i += kNibbleRows, w += step, to += kNibbleRows * p.width) {
    __builtin_prefetch(w + kAhead);
    StoreNibbles(std::make_integer_sequence<int, 8>(), p, nibbles, Nibbles::Load(w), scale, zero,
                 to);
  }
}

// Rows [begin, begin + n) of a panel, as floats; `begin` is a multiple of kSmallBlock.
template <class W, size_t vectors>
void Expand(const PanelProduct& p, const PanelOperands& o, size_t panel, size_t begin, size_t n,
            float* to) {
  const size_t lanes = hn::Lanes(FloatTag());
  const size_t groups = (p.k + p.group - 1) / p.group;
  const char* const w = static_cast<const char*>(o.weights) + panel * p.panel_bytes;
  for (size_t i = begin; i < begin + n;) {
    const size_t g = i / p.group, end = std::min((g + 1) * p.group, begin + n);
    Vf scale[vectors], zero[vectors];
    const size_t row = (panel * groups + g) * p.width;
    for (size_t v = 0; v < vectors; ++v) {
      scale[v] = zero[v] = hn::Zero(FloatTag());
      if (p.scale != ScaleForm::kNone) scale[v] = LoadScale(p.scale, o.scales, row + v * lanes);
      if (p.zeros) zero[v] = LoadScale(p.scale, o.zeros, row + v * lanes);
    }
    ExpandRows<W, vectors>(p, w + RowBytes<W>(i, p.width), end - i, scale, zero,
                           to + (i - begin) * p.width);
    i = end;
  }
}

// out[rows, width] (+)= a[rows, n] * b[n, width]
template <size_t rows, size_t vectors>
void Tile(const float* HWY_RESTRICT a, size_t a_row, const float* HWY_RESTRICT b, size_t n,
          bool add, float* HWY_RESTRICT out, size_t out_row) {
  const size_t lanes = hn::Lanes(FloatTag());
  Vf sum[rows * vectors];
#pragma GCC unroll 32
  for (size_t i = 0; i < rows * vectors; ++i) sum[i] = hn::Zero(FloatTag());
  for (size_t k = 0; k < n; ++k, b += vectors * lanes) {
    Vf row[vectors];
#pragma GCC unroll 4
    for (size_t v = 0; v < vectors; ++v) row[v] = hn::LoadU(FloatTag(), b + v * lanes);
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; ++i) {
      const Vf factor = hn::Set(FloatTag(), a[i * a_row + k]);
#pragma GCC unroll 4
      for (size_t v = 0; v < vectors; ++v) {
        sum[i * vectors + v] = hn::MulAdd(factor, row[v], sum[i * vectors + v]);
      }
    }
  }
#pragma GCC unroll 8
  for (size_t i = 0; i < rows; ++i) {
#pragma GCC unroll 4
    for (size_t v = 0; v < vectors; ++v) {
      float* const to = out + i * out_row + v * lanes;
      Vf x = sum[i * vectors + v];
      if (add) x = hn::Add(hn::LoadU(FloatTag(), to), x);
      hn::StoreU(x, FloatTag(), to);
    }
  }
}

template <size_t vectors>
void Tiles(const PanelProduct& p, const float* a, const float* b, size_t n, bool add, float* out,
           size_t out_row) {
  size_t i = 0;
  for (; i + kTileRows <= p.m; i += kTileRows) {
    Tile<kTileRows, vectors>(a + i * p.a_row, p.a_row, b, n, add, out + i * out_row, out_row);
  }
  a += i * p.a_row;
  out += i * out_row;
  switch (p.m - i) {
    case 5:
      return Tile<5, vectors>(a, p.a_row, b, n, add, out, out_row);
    case 4:
      return Tile<4, vectors>(a, p.a_row, b, n, add, out, out_row);
    case 3:
      return Tile<3, vectors>(a, p.a_row, b, n, add, out, out_row);
    case 2:
      return Tile<2, vectors>(a, p.a_row, b, n, add, out, out_row);
    case 1:
      return Tile<1, vectors>(a, p.a_row, b, n, add, out, out_row);
    default:
      return;
  }
}

// A panel of more than one row of the output. Scratch: a block of floats, then the last panel's
// output if it has fewer columns than the panel.
template <class W, size_t vectors>
void ManyRows(const PanelProduct& p, const PanelOperands& o, size_t panel, float* scratch) {
  const size_t block = BlockRows(p);
  const size_t columns = std::min(p.width, p.n - panel * p.width);
  const bool part = columns < p.width;
  float* const out = o.out + panel * p.width;
  float* const whole = scratch + (block + kNibbleRows) * p.width;
  for (size_t k = 0; k < p.k; k += block) {
    const size_t n = std::min(block, p.k - k);
    const float* b = scratch;
    if constexpr (sizeof(typename W::T) == sizeof(float)) {
      b = reinterpret_cast<const float*>(static_cast<const char*>(o.weights) +
                                         panel * p.panel_bytes) +
          k * p.width;
    } else {
      Expand<W, vectors>(p, o, panel, k, n, scratch);
    }
    Tiles<vectors>(p, o.a + k, b, n, k > 0, part ? whole : out, part ? p.width : p.out_row);
  }
  if (!part) return;
  for (size_t i = 0; i < p.m; ++i) {
    std::copy_n(whole + i * p.width, columns, out + i * p.out_row);
  }
}

template <class W, size_t vectors>
void Run(const PanelProduct& p, const PanelOperands& o, size_t first, size_t last, float* scratch) {
  if (p.m > kMostFewRows) {
    for (size_t panel = first; panel < last; ++panel) ManyRows<W, vectors>(p, o, panel, scratch);
    return;
  }
  FewRowsOperands few{o.a, p.a_row, scratch};
  const size_t groups = (p.k + p.group - 1) / p.group;
  for (size_t i = 0; i < p.m && p.zeros; ++i) {
    const float* const a = o.a + i * p.a_row;
    for (size_t g = 0; g < groups; ++g) {
      float sum = 0;
      for (size_t k = g * p.group; k < std::min((g + 1) * p.group, p.k); ++k) sum += a[k];
      scratch[i * groups + g] = sum;
    }
  }
  if (p.form == PanelForm::kNibbles && p.k % kNibbleRows != 0) {
    float* const copy = scratch + p.m * groups;
    few.a = copy;
    few.a_row = p.k + kNibbleRows;
    for (size_t i = 0; i < p.m; ++i) {
      std::copy_n(o.a + i * p.a_row, p.k, copy + i * few.a_row);
      std::fill_n(copy + i * few.a_row + p.k, kNibbleRows, 0.0f);
    }
  }
  for (size_t panel = first; panel < last; ++panel) {
    if (p.m == 1) {
      OneRow<W, vectors>(p, o, panel, few.a, few.group_sums);
    } else {
      FewRows<W, vectors>(p, o, few, panel);
    }
  }
}

PanelProductFn FloatLoops(size_t width) {
  const size_t lanes = hn::Lanes(FloatTag());
  if (width % lanes != 0) return nullptr;
  switch (width / lanes) {
    case 1:
      return &Run<Floats, 1>;
    case 2:
      return &Run<Floats, 2>;
    case 3:
      return &Run<Floats, 3>;
    case 4:
      return &Run<Floats, 4>;
    default:
      return nullptr;
  }
}

PanelProductFn Choose(PanelForm form, size_t width) {
  if (form == PanelForm::kFloat) return FloatLoops(width);
  if (width != kVectors * hn::Lanes(FloatTag())) return nullptr;
  switch (form) {
    case PanelForm::kBfloat16:
      return &Run<Bfloat16s, kVectors>;
    case PanelForm::kHalf:
      return &Run<Halfs, kVectors>;
    case PanelForm::kInt8:
      return &Run<Bytes<int8_t>, kVectors>;
    case PanelForm::kUint8:
      return &Run<Bytes<uint8_t>, kVectors>;
    case PanelForm::kNibbles:
      return &Run<Nibbles, kVectors>;
    default:
      return nullptr;
  }
}

PanelSizes Sizes() { return {kVectors * hn::Lanes(FloatTag()), kNibbleRows}; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(Choose);
HWY_EXPORT(Sizes);

PanelProductFn FindPanelProduct(PanelForm form, size_t width) {
  return HWY_DYNAMIC_DISPATCH(Choose)(form, width);
}
PanelSizes FindPanelSizes() { return HWY_DYNAMIC_DISPATCH(Sizes)(); }

size_t PanelScratch(const PanelProduct& p) {
  constexpr size_t kMostNibbleRows = 8;
  if (p.m <= kMostFewRows) {
    return p.m * ((p.k + p.group - 1) / p.group + p.k + kMostNibbleRows);
  }
  const bool part = p.n % p.width != 0;
  return (BlockRows(p) + kMostNibbleRows + (part ? p.m : 0)) * p.width;
}

}  // namespace tenon
#endif
