// The loops behind FindAttentionBlocks, compiled for each instruction set.
//
// A block of keys times a few vectors of queries. Queries are the lanes, so that the
// largest score and the sum of each query are elementwise operations, and keys and values are read
// one number at a time, in the order in which they lie:
//
//   s[key][query]  = sum over d of k[key][d] * q[d][query]
//   o[e][query]    = o[e][query] * e^(m_before - m) + sum over keys of v[key][e] * e^(s - m)
//
// with m the largest score so far. Matrix tiles compute both products of bfloat16, if the CPU has
// them.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention/attention_simd.cc"
#include "kernels/attention/attention_simd.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/attention/attention_tiles.h"
#include "kernels/attention/rows-inl.h"
#include "kernels/simd/math-inl.h"
#include "kernels/simd/part-inl.h"
#if HWY_ARCH_X86
#include "kernels/simd/sums_avx2.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

// Vectors of queries in a group; their sums for kSums keys or columns stay in registers.
constexpr size_t kVectors = 3;
constexpr size_t kSums = HWY_TARGET <= HWY_AVX3 ? 8 : 4;
constexpr size_t kKeys = 64;        // in a block
constexpr size_t kMostGroups = 16;  // in a task
// Up to this many elements, the tiles of a mask for all rows of a task are kept for the next task.
constexpr size_t kKeptTile = 1 << 17;
// e^-104 is 0 in float.
constexpr float kNothing = -104;
// Masks that hide are below this.
constexpr float kDeep = -1000;

struct Layout : ScratchLayout {
  bool tiles;
  size_t lanes, rows, keys, block, blocks, width;
  size_t k, v, s, q, o, largest, sums, staging, waits;
  std::array<size_t, kMaxAttentionInputs> tile{}, bounds{};
  std::array<bool, kMaxAttentionInputs> kept{};
  // For tiles: a row of q or k, and the operands.
  size_t tile_depth = 0;
  size_t tile_k = 0, tile_q = 0, tile_v = 0, weights = 0, pairs = 0;

  Layout(const AttentionProblem& p, int64_t task_rows, bool on_tiles) : tiles(on_tiles) {
    lanes = hn::Lanes(FloatTag());
    rows = RoundUp(static_cast<size_t>(std::min(p.rows.extent, task_rows)), lanes);
    keys = static_cast<size_t>(p.keys.extent);
    blocks = std::max<size_t>(1, (keys + kKeys - 1) / kKeys);
    block = RoundUp((keys + blocks - 1) / blocks, tiles ? kAttentionTileKeys : kSums);
    blocks = std::max<size_t>(1, (keys + block - 1) / std::max<size_t>(block, 1));
    width = RoundUp(static_cast<size_t>(p.width), tiles ? kAttentionTileWidth : kSums);
    const size_t depth = static_cast<size_t>(p.depth);
    const size_t group = std::min(rows, kVectors * lanes);
    k = Take(block * depth);
    v = Take(block * width);
    s = Take(block * group);
    q = Take(rows * depth);
    o = Take(rows * width);
    largest = Take(rows);
    sums = Take(rows);
    staging = Take(group * std::max({depth, block, width}));
    waits = Take(kMostGroups * blocks);
    if (tiles) {
      tile_depth = RoundUp(depth, kAttentionTileDepth);
      tile_k = Take(block * tile_depth / 2);
      tile_q = Take(rows * tile_depth / 2);
      tile_v = Take(width * block / 2);
      weights = Take(block / 2 * group);
      pairs = Take(std::max(group * tile_depth / 2, block / 2 * width));
    }
    for (const AttentionStep& step : p.steps) {
      if (step.input < 0) continue;
      const size_t i = static_cast<size_t>(step.input);
      kept[i] =
          p.keys.stride[i] != 0 && p.rows.stride[i] != 0 && rows * blocks * block <= kKeptTile;
      tile[i] = Take(kept[i] ? rows * blocks * block : group * block);
      bounds[i] = Take(kept[i] ? 2 * blocks * (rows / lanes) : 2);
    }
  }
};

// Everything that the loops of one task need.
template <class T>
struct Blocks {
  const AttentionTask& task;
  const AttentionProblem& p;
  const Layout l;
  float* const scratch;

  Blocks(const AttentionTask& t, int64_t rows)
      : task(t), p(*t.problem), l(*t.problem, rows, t.tiles), scratch(t.scratch) {}

  // Queries that are computed together: `count` of them, in `vectors` vectors.
  struct Group {
    size_t first, count, vectors;
    bool begun;
  };

  static constexpr bool kBfloat16 = std::is_same_v<T, uint16_t>;

  const T* input(int i) const { return static_cast<const T*>(task.inputs[static_cast<size_t>(i)]); }
  float* at(size_t offset) const { return scratch + offset; }

  // Rows of q, times the scale, with queries as lanes; lanes past the last query are 0.
  void PackQueries(size_t first, size_t count, size_t lanes) const {
    const size_t depth = static_cast<size_t>(p.depth);
    float* q = at(l.q) + first * depth;
    const T* from = input(0) + (task.row_begin + static_cast<int64_t>(first)) * p.rows.stride[0];
    float* staged = at(l.staging);
    for (size_t r = 0; r < count; ++r) {
      const T* row = from + static_cast<int64_t>(r) * p.rows.stride[0];
      CopyRow(row, p.q_depth, p.scale, staged + r * depth, depth);
    }
    std::fill_n(staged + count * depth, (lanes - count) * depth, 0.0f);
    Transposed(task, staged, depth, q, lanes, lanes, depth);
    if constexpr (kBfloat16) {
      if (l.tiles) PackTileQueries(from, first, count, lanes);
    }
  }

  void PackKeys(size_t block, size_t count) const {
    const size_t depth = static_cast<size_t>(p.depth), width = static_cast<size_t>(p.width);
    const int64_t first = static_cast<int64_t>(block * l.block);
    if constexpr (kBfloat16) {
      if (l.tiles) {
        PackTileKeys(first, count);
        return PackTileValues(first, count);
      }
    }
    for (size_t i = 0; i < count; ++i) {
      const int64_t key = first + static_cast<int64_t>(i);
      CopyRow(input(1) + key * p.keys.stride[1], p.k_depth, 1, at(l.k) + i * depth, depth);
      float* v = at(l.v) + i * l.width;
      CopyRow(input(2) + key * p.keys.stride[2], p.v_width, 1, v, width);
      std::fill(v + width, v + l.width, 0.0f);
    }
    const size_t padded = RoundUp(count, kSums);
    std::fill_n(at(l.k) + count * depth, (padded - count) * depth, 0.0f);
  }

  // ---- operands of tiles, as AttentionTiles has them ----

  uint16_t* numbers(size_t offset) const { return reinterpret_cast<uint16_t*>(at(offset)); }
  uint32_t* pairs(size_t offset) const { return reinterpret_cast<uint32_t*>(at(offset)); }

  // Whether a power of two, by which bfloat16 numbers are multiplied exactly.
  bool ExactScale() const {
    int exponent;
    return std::fabs(std::frexp(p.scale, &exponent)) == 0.5f;
  }

  HWY_INLINE void CopyNumbers(const uint16_t* from, int64_t stride, size_t n, size_t filled,
                              uint16_t* to) const {
    if (stride == 1) {
      std::copy_n(from, n, to);
    } else {
      for (size_t i = 0; i < n; ++i) to[i] = from[static_cast<int64_t>(i) * stride];
    }
    std::fill_n(to + n, filled - n, uint16_t{0});
  }

  void PackTileQueries(const uint16_t* from, size_t first, size_t count, size_t lanes) const {
    const size_t depth = static_cast<size_t>(p.depth), row = l.tile_depth;
    const bool scaled = ExactScale();
    uint16_t* const staged = numbers(l.pairs);
    for (size_t r = 0; r < count; ++r) {
      uint16_t* const to = staged + r * row;
      if (scaled) {
        StoreRow(at(l.staging) + r * depth, depth, to, 1);
        std::fill_n(to + depth, row - depth, uint16_t{0});
      } else {
        CopyNumbers(from + static_cast<int64_t>(r) * p.rows.stride[0], p.q_depth, depth, row, to);
      }
    }
    std::fill_n(staged + count * row, (lanes - count) * row, uint16_t{0});
    Transposed(task, at(l.pairs), row / 2, at(l.tile_q) + first * row / 2, lanes, lanes, row / 2);
  }
  void PackTileKeys(int64_t first, size_t count) const {
    uint16_t* const to = numbers(l.tile_k);
    for (size_t i = 0; i < count; ++i) {
      CopyNumbers(input(1) + (first + static_cast<int64_t>(i)) * p.keys.stride[1], p.k_depth,
                  static_cast<size_t>(p.depth), l.tile_depth, to + i * l.tile_depth);
    }
    const size_t filled = RoundUp(count, kAttentionTileKeys);
    std::fill_n(to + count * l.tile_depth, (filled - count) * l.tile_depth, uint16_t{0});
  }
  // Transposed in pairs of keys.
  void PackTileValues(int64_t first, size_t count) const {
    const size_t width = static_cast<size_t>(p.width), filled = RoundUp(count, kAttentionTileKeys);
    uint32_t* const staged = pairs(l.pairs);
    for (size_t i = 0; i < filled; i += 2) {
      const uint16_t* const row = input(2) + (first + static_cast<int64_t>(i)) * p.keys.stride[2];
      uint32_t* const to = staged + i / 2 * width;
      if (i + 1 < count) {
        ZipRows(row, row + p.keys.stride[2], width, to);
      } else if (i < count) {
        for (size_t e = 0; e < width; ++e) to[e] = row[static_cast<int64_t>(e) * p.v_width];
      } else {
        std::fill_n(to, width, 0u);
      }
    }
    Transposed(task, at(l.pairs), width, at(l.tile_v), l.block / 2, filled / 2, width);
    for (size_t e = width; e < l.width; ++e) {
      std::fill_n(pairs(l.tile_v) + e * l.block / 2, filled / 2, 0u);
    }
  }
  HWY_INLINE void ZipRows(const uint16_t* first, const uint16_t* second, size_t n,
                          uint32_t* to) const {
    const hn::ScalableTag<uint32_t> d;
    const hn::Rebind<uint16_t, decltype(d)> narrow;
    size_t e = 0;
    for (; p.v_width == 1 && e + hn::Lanes(d) <= n; e += hn::Lanes(d)) {
      const auto low = hn::PromoteTo(d, hn::LoadU(narrow, first + e));
      const auto high = hn::PromoteTo(d, hn::LoadU(narrow, second + e));
      hn::StoreU(hn::Or(low, hn::ShiftLeft<16>(high)), d, to + e);
    }
    for (; e < n; ++e) {
      const int64_t i = static_cast<int64_t>(e) * p.v_width;
      to[e] = first[i] | uint32_t{second[i]} << 16;
    }
  }
  AttentionTiles TilesOf(size_t vectors, size_t first, size_t keys) const {
    AttentionTiles t;
    t.vectors = vectors;
    t.depth = l.tile_depth;
    t.keys = RoundUp(keys, kAttentionTileKeys);
    t.width = l.width;
    t.k = numbers(l.tile_k);
    t.q = pairs(l.tile_q) + first * l.tile_depth / 2;
    t.v = numbers(l.tile_v);
    t.v_row = l.block;
    t.weights = pairs(l.weights);
    return t;
  }

  // The largest length of a row of k in the block.
  float LongestKey(size_t block, size_t count) const {
    double longest = 0;
    for (size_t i = 0; i < count; ++i) {
      const int64_t key = static_cast<int64_t>(block * l.block + i);
      const double square =
          Square(input(1) + key * p.keys.stride[1], p.k_depth, static_cast<size_t>(p.depth));
      if (!(square <= longest)) longest = square;  // NaN, too
    }
    return static_cast<float>(std::sqrt(longest));
  }

  // ---- masks ----

  // A mask for a group of queries and a block of keys: whether it changes with them, the values
  // [key][query], [key] or [query], and their bounds.
  struct Mask {
    const float* values = nullptr;
    bool by_row = false, by_key = false;
    float low = 0, high = 0;
  };
  void GetMasks(const Group& g, size_t block, size_t keys, Mask* masks) const {
    for (const AttentionStep& step : p.steps) {
      if (step.input >= 0) {
        *masks = GetMask(step, g.first, g.count, g.vectors * l.lanes, block, keys);
      }
      ++masks;
    }
  }
  Mask GetMask(const AttentionStep& step, size_t first, size_t rows, size_t lanes, size_t block,
               size_t keys) const {
    const size_t i = static_cast<size_t>(step.input);
    const int64_t row_stride = p.rows.stride[i], key_stride = p.keys.stride[i];
    Mask m;
    m.by_row = row_stride != 0;
    m.by_key = key_stride != 0;
    float* values = at(l.tile[i]);
    float* bounds = at(l.bounds[i]);
    m.values = values;
    const int64_t row0 = task.row_begin + static_cast<int64_t>(first);
    const int64_t origin = row0 * row_stride + static_cast<int64_t>(block * l.block) * key_stride;
    if (l.kept[i]) {
      values += first * l.blocks * l.block + block * l.block * lanes;
      bounds += 2 * (first / l.lanes * l.blocks + block);
      m.values = values;
      if (task.state->tiled[i] == task.inputs[i] && task.state->tiled_row[i] == task.row_begin) {
        m.low = bounds[0];
        m.high = bounds[1];
        return m;
      }
    }
    const size_t count_rows = m.by_row ? rows : 1, count_keys = m.by_key ? keys : 1;
    if (m.by_row && m.by_key) {
      float* staged = at(l.staging);
      for (size_t r = 0; r < rows; ++r) {
        CopyMaskRow<T>(step, task.inputs[i], origin + static_cast<int64_t>(r) * row_stride,
                       key_stride, staged + r * keys, keys);
      }
      Bounds(staged, rows * keys, m.low, m.high);
      std::fill_n(staged + rows * keys, (lanes - rows) * keys, 0.0f);
      Transposed(task, staged, keys, values, lanes, lanes, keys);
    } else {
      const int64_t stride = m.by_row ? row_stride : key_stride;
      const size_t n = count_rows * count_keys;
      CopyMaskRow<T>(step, task.inputs[i], origin, stride, values, n);
      Bounds(values, n, m.low, m.high);
      if (m.by_row) std::fill_n(values + n, lanes - n, 0.0f);
    }
    bounds[0] = m.low;
    bounds[1] = m.high;
    return m;
  }

  // Bounds of the scores that are within [-size, size] before the steps.
  void BoundScores(const Mask* masks, float size, float& low, float& high) const {
    low = -size;
    high = size;
    size_t n = 0;
    for (const AttentionStep& step : p.steps) {
      const Mask& m = masks[n++];
      StepBounds(step, m.low, m.high, low, high);
    }
  }

  // ---- the products ----

  // Not inline: all registers are for sums.
  template <size_t vectors>
  HWY_NOINLINE void Scores(const float* HWY_RESTRICT q, size_t keys, float* HWY_RESTRICT s) const {
    const size_t depth = static_cast<size_t>(p.depth), lanes = l.lanes;
    for (size_t i = 0; i < keys; i += kSums) {
      const float* HWY_RESTRICT k = at(l.k) + i * depth;
#if HWY_TARGET == HWY_AVX2
      if (vectors == 3 && depth > 0 && depth % WideSums::kStep == 0) {
        ComputeWideSumsOfRows({.a = k,
                               .a_stride = depth * sizeof(float),
                               .w = q,
                               .steps = depth / WideSums::kStep,
                               .sums = s + i * vectors * lanes});
        continue;
      }
#endif
      Vf sum[kSums * vectors];
#pragma GCC unroll 24
      for (size_t j = 0; j < kSums * vectors; ++j) sum[j] = hn::Zero(FloatTag());
      for (size_t d = 0; d < depth; ++d) {
        Vf row[vectors];
#pragma GCC unroll 4
        for (size_t c = 0; c < vectors; ++c) {
          row[c] = hn::Load(FloatTag(), q + (d * vectors + c) * lanes);
        }
#pragma GCC unroll 8
        for (size_t r = 0; r < kSums; ++r) {
          const Vf factor = hn::Set(FloatTag(), k[r * depth + d]);
#pragma GCC unroll 4
          for (size_t c = 0; c < vectors; ++c) {
            sum[r * vectors + c] = hn::MulAdd(factor, row[c], sum[r * vectors + c]);
          }
        }
      }
#pragma GCC unroll 24
      for (size_t j = 0; j < kSums * vectors; ++j) {
        hn::Store(sum[j], FloatTag(), s + i * vectors * lanes + j * lanes);
      }
    }
  }

  // o = o * factor + the product of `keys` rows of v and e^(s - largest).
  template <size_t vectors>
  HWY_NOINLINE void Values(const float* HWY_RESTRICT s, size_t keys, const float* factor,
                           bool first, float* HWY_RESTRICT o) const {
    const size_t lanes = l.lanes;
    for (size_t e = 0; e < l.width; e += kSums) {
      const float* HWY_RESTRICT v = at(l.v) + e;
      Vf sum[kSums * vectors];
#pragma GCC unroll 24
      for (size_t j = 0; j < kSums * vectors; ++j) sum[j] = hn::Zero(FloatTag());
      size_t k = 0;
#if HWY_TARGET == HWY_AVX2
      if (vectors == 3 && keys >= WideSums::kStep) {
        HWY_ALIGN float loaded[kSums * vectors * hn::MaxLanes(FloatTag())];
        const size_t steps = keys / WideSums::kStep;
        ComputeWideSumsOfColumns(
            {.a = v, .a_stride = l.width * sizeof(float), .w = s, .steps = steps, .sums = loaded});
#pragma GCC unroll 24
        for (size_t j = 0; j < kSums * vectors; ++j) {
          sum[j] = hn::Load(FloatTag(), loaded + j * lanes);
        }
        k = steps * WideSums::kStep;
      }
#endif
      for (; k < keys; ++k) {
        Vf row[vectors];
#pragma GCC unroll 4
        for (size_t c = 0; c < vectors; ++c) {
          row[c] = hn::Load(FloatTag(), s + (k * vectors + c) * lanes);
        }
#pragma GCC unroll 8
        for (size_t r = 0; r < kSums; ++r) {
          const Vf value = hn::Set(FloatTag(), v[k * l.width + r]);
#pragma GCC unroll 4
          for (size_t c = 0; c < vectors; ++c) {
            sum[r * vectors + c] = hn::MulAdd(value, row[c], sum[r * vectors + c]);
          }
        }
      }
      float* to = o + e * vectors * lanes;
#pragma GCC unroll 8
      for (size_t r = 0; r < kSums; ++r) {
#pragma GCC unroll 4
        for (size_t c = 0; c < vectors; ++c) {
          float* at_o = to + (r * vectors + c) * lanes;
          Vf total = sum[r * vectors + c];
          if (!first) {
            const Vf before = hn::Load(FloatTag(), at_o);
            total = hn::MulAdd(before, hn::Load(FloatTag(), factor + c * lanes), total);
          }
          hn::Store(total, FloatTag(), at_o);
        }
      }
    }
  }

  template <size_t vectors>
  HWY_INLINE void Step(const AttentionStep& step, const Mask& m, size_t keys, float* s) const {
    const float* values = m.values;
    const size_t row = vectors * l.lanes, by_key = !m.by_key ? 0 : m.by_row ? row : 1;
    const auto each = [&](auto f) {
      if (m.by_row) {
        for (size_t k = 0; k < keys; ++k) {
#pragma GCC unroll 4
          for (size_t c = 0; c < vectors; ++c) {
            float* x = s + k * row + c * l.lanes;
            const Vf mask = hn::LoadU(FloatTag(), values + k * by_key + c * l.lanes);
            hn::Store(f(hn::Load(FloatTag(), x), mask), FloatTag(), x);
          }
        }
        return;
      }
      for (size_t k = 0; k < keys; ++k) {
        const Vf mask = values == nullptr ? hn::Zero(FloatTag()) : Const(values[k * by_key]);
#pragma GCC unroll 4
        for (size_t c = 0; c < vectors; ++c) {
          float* x = s + k * row + c * l.lanes;
          hn::Store(f(hn::Load(FloatTag(), x), mask), FloatTag(), x);
        }
      }
    };
    VisitStep(step, each);
  }

  // One block of keys for one group of queries.
  template <size_t vectors>
  HWY_NOINLINE void Block(const Mask* masks, size_t first, size_t keys, bool first_block) const {
    const FloatTag d;
    const size_t lanes = l.lanes, row = vectors * lanes;
    float* s = at(l.s);
    const AttentionTiles tiles = TilesOf(vectors, first, keys);
    if (l.tiles) {
      AttentionTileScores(tiles, s);
      if (!ExactScale()) Scale(s, keys * row);
    } else {
      Scores<vectors>(at(l.q) + first * static_cast<size_t>(p.depth), keys, s);
    }
    size_t n = 0;
    for (const AttentionStep& step : p.steps) Step<vectors>(step, masks[n++], keys, s);

    Vf largest[vectors], factor[vectors], base[vectors], sum[vectors];
#pragma GCC unroll 4
    for (size_t c = 0; c < vectors; ++c) {
      largest[c] = hn::Load(d, at(l.largest) + first + c * lanes);
      factor[c] = largest[c];
      sum[c] = hn::Zero(d);
    }
    for (size_t k = 0; k < keys; ++k) {
#pragma GCC unroll 4
      for (size_t c = 0; c < vectors; ++c) {
        largest[c] = hn::Max(largest[c], hn::Load(d, s + k * row + c * lanes));
      }
    }
#pragma GCC unroll 4
    for (size_t c = 0; c < vectors; ++c) {
      hn::Store(largest[c], d, at(l.largest) + first + c * lanes);
      // Queries that have seen only -infinity so far: e^(-infinity - 0) is 0.
      base[c] = hn::IfThenZeroElse(hn::Eq(largest[c], hn::Neg(Infinity())), largest[c]);
      factor[c] = ExpOfNegative(hn::Sub(factor[c], base[c]));
    }
    HWY_ALIGN float bases[vectors * hn::MaxLanes(d)], loaded[vectors * hn::MaxLanes(d)];
    if (l.tiles) {
#pragma GCC unroll 4
      for (size_t c = 0; c < vectors; ++c) {
        hn::Store(base[c], d, bases + c * lanes);
        hn::Store(sum[c], d, loaded + c * lanes);
      }
      AttentionTileWeights(tiles, s, keys, bases, loaded);
#pragma GCC unroll 4
      for (size_t c = 0; c < vectors; ++c) sum[c] = hn::Load(d, loaded + c * lanes);
    }
    for (size_t k = 0; k < (l.tiles ? 0 : keys); ++k) {
#pragma GCC unroll 4
      for (size_t c = 0; c < vectors; ++c) {
        float* x = s + k * row + c * lanes;
        const Vf t = hn::Sub(hn::Load(d, x), base[c]);
        const Vf e = ExpOfNegative(t);
        hn::Store(e, d, x);
        sum[c] = hn::Add(sum[c], e);
      }
    }
#pragma GCC unroll 4
    for (size_t c = 0; c < vectors; ++c) {
      float* total = at(l.sums) + first + c * lanes;
      hn::Store(hn::MulAdd(hn::Load(d, total), factor[c], sum[c]), d, total);
    }
    HWY_ALIGN float factors[vectors * hn::MaxLanes(FloatTag())];
#pragma GCC unroll 4
    for (size_t c = 0; c < vectors; ++c) hn::Store(factor[c], d, factors + c * lanes);
    float* const o = at(l.o) + first * l.width;
    if (l.tiles) return AttentionTileValues(tiles, first_block ? nullptr : factors, o);
    Values<vectors>(s, keys, factors, first_block, o);
  }

  HWY_INLINE void Scale(float* s, size_t n) const {
    const FloatTag d;
    const Vf scale = Const(p.scale);
    for (size_t i = 0; i < n; i += hn::Lanes(d)) {
      hn::Store(hn::Mul(hn::Load(d, s + i), scale), d, s + i);
    }
  }

  void RunBlock(size_t vectors, const Mask* masks, size_t first, size_t keys,
                bool first_block) const {
    static_assert(kVectors == 3);
    if (vectors == 3) return Block<3>(masks, first, keys, first_block);
    if (vectors == 2) return Block<2>(masks, first, keys, first_block);
    return Block<1>(masks, first, keys, first_block);
  }

  void Finish(size_t first, size_t count, size_t lanes) const {
    const FloatTag d;
    const size_t width = static_cast<size_t>(p.width);
    float* o = at(l.o) + first * l.width;
    float* staged = at(l.staging);
    for (size_t c = 0; c < lanes; c += l.lanes) {
      const Vf largest = hn::Load(d, at(l.largest) + first + c);
      const Vf factor = hn::IfThenZeroElse(hn::Le(largest, Const(p.zero_up_to)),
                                           hn::Div(Const(1), hn::Load(d, at(l.sums) + first + c)));
      for (size_t e = 0; e < width; ++e) {
        float* x = o + e * lanes + c;
        hn::Store(hn::Mul(hn::Load(d, x), factor), d, x);
      }
    }
    Transposed(task, o, lanes, staged, width, width, lanes);
    T* out = static_cast<T*>(task.out) +
             (task.row_begin + static_cast<int64_t>(first)) * p.rows.stride[AttentionDim::kOut];
    for (size_t r = 0; r < count; ++r) {
      StoreRow(staged + r * width, width, out, p.out_width);
      out += p.rows.stride[AttentionDim::kOut];
    }
  }

  // Whether no key of the block can have a weight, given the scores so far; `wait`: whether that
  // should be decided after the other blocks.
  bool Hides(const Mask* masks, const Group& g, size_t block, size_t keys, bool& wait) const {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    wait = false;
    float low, high;
    BoundScores(masks, kInfinity, low, high);
    if (!(high < kInfinity)) {
      bool deep = false;
      size_t n = 0;
      for (const AttentionStep& step : p.steps) {
        const Mask& m = masks[n++];
        deep = deep || (step.kind == AttentionStep::Kind::kAdd && m.high < kDeep) ||
               (step.kind == AttentionStep::Kind::kSubtract && -m.low < kDeep);
      }
      if (!deep) return false;
      const float size = LongestQuery(g) * LongestKey(block, keys) * 1.001f;
      if (!(size < kInfinity)) return false;
      BoundScores(masks, size, low, high);
    }
    float least = kInfinity;
    for (size_t r = 0; r < g.count; ++r) least = std::min(least, at(l.largest)[g.first + r]);
    wait = least == -kInfinity && high < kDeep;
    return high < least + kNothing;
  }
  float LongestQuery(const Group& g) const {
    const FloatTag d;
    const size_t lanes = g.vectors * l.lanes;
    const float* q = at(l.q) + g.first * static_cast<size_t>(p.depth);
    float longest = 0;
    for (size_t c = 0; c < lanes; c += l.lanes) {
      Vf square = hn::Zero(d);
      for (size_t i = 0; i < static_cast<size_t>(p.depth); ++i) {
        const Vf x = hn::Load(d, q + i * lanes + c);
        square = hn::MulAdd(x, x, square);
      }
      const float most = hn::GetLane(hn::MaxOfLanes(d, square));
      if (!(most <= longest)) longest = most;
    }
    return std::sqrt(longest);
  }

  void Run() const {
    const size_t rows = static_cast<size_t>(task.row_end - task.row_begin);
    std::fill_n(at(l.largest), l.rows, -std::numeric_limits<float>::infinity());
    std::fill_n(at(l.sums), l.rows, 0.0f);
    std::array<Group, kMostGroups> groups;
    size_t num_groups = 0;
    for (size_t first = 0; first < rows;) {
      const size_t left = (rows - first + l.lanes - 1) / l.lanes;
      const size_t vectors = left == 4 ? 2 : std::min(left, kVectors);
      const size_t count = std::min(rows - first, vectors * l.lanes);
      groups[num_groups++] = {first, count, vectors, false};
      PackQueries(first, count, vectors * l.lanes);
      first += count;
    }
    // Blocks that are hidden from queries that have seen no others yet wait for the second pass.
    float* waits = at(l.waits);
    std::fill_n(waits, num_groups * l.blocks, 0.0f);
    bool any_wait = false;
    for (int pass = 0; pass < (any_wait ? 2 : 1); ++pass) {
      for (size_t b = 0; b < l.blocks; ++b) {
        const size_t keys = std::min(l.block, l.keys - b * l.block);
        bool packed = false;
        for (size_t i = 0; i < num_groups; ++i) {
          if (pass == 1 && waits[i * l.blocks + b] == 0) continue;
          Group& g = groups[i];
          std::array<Mask, kMaxAttentionSteps> masks;
          GetMasks(g, b, keys, masks.data());
          if (task.skip && p.num_inputs > 3) {
            bool wait = false;
            const bool hides = Hides(masks.data(), g, b, keys, wait);
            if (pass == 0 && wait) {
              waits[i * l.blocks + b] = 1;
              any_wait = true;
              continue;
            }
            if (hides) continue;
          }
          if (!packed) PackKeys(b, keys);
          packed = true;
          RunBlock(g.vectors, masks.data(), g.first, keys, !g.begun);
          g.begun = true;
        }
      }
      for (size_t i = 0; i < l.kept.size() && pass == 0; ++i) {
        if (!l.kept[i]) continue;
        task.state->tiled[i] = task.inputs[i];
        task.state->tiled_row[i] = task.row_begin;
      }
    }
    for (size_t i = 0; i < num_groups; ++i) {
      Finish(groups[i].first, groups[i].count, groups[i].vectors * l.lanes);
    }
  }
};

void RunBlocks(const AttentionTask& task, int64_t rows) {
  if (task.tiles) return WithAttentionTiles([&] { Blocks<uint16_t>(task, rows).Run(); });
  task.bfloat16 ? Blocks<uint16_t>(task, rows).Run() : Blocks<float>(task, rows).Run();
}
size_t BlocksFloats(const AttentionProblem& p, int64_t rows, bool tiles) {
  return Layout(p, rows, tiles).end;
}

AttentionBlocks GetBlocks() {
  return {static_cast<int64_t>(hn::Lanes(FloatTag())), &RunBlocks, &BlocksFloats};
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(GetBlocks);

AttentionBlocks FindAttentionBlocks() { return HWY_DYNAMIC_DISPATCH(GetBlocks)(); }

}  // namespace tenon
#endif
