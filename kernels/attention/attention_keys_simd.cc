// The loops behind FindAttentionKeys, compiled for each instruction set: many queries with few
// keys, such as the windows of an image. Keys are the lanes of the scores and the columns of v
// those of the result, so that only the keys are transposed:
//
//   s[query][key] = sum over d of q[query][d] * k[d][key]
//   o[query][e]   = sum over keys of e^(s - m) * v[key][e], over the sum of e^(s - m)
//
// with m the largest score of the query.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention/attention_keys_simd.cc"
#include <algorithm>
#include <limits>
#include <type_traits>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/attention/attention_simd.h"
#include "kernels/attention/rows-inl.h"
#include "kernels/simd/math-inl.h"
#include "kernels/simd/part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

constexpr size_t kTileRows = 6;  // so that a tile's sums stay in registers

// to[r][c] = sum over i < steps of a[r][i] * b[i][c]
struct TileOperands {
  const float* a;
  size_t a_stride;
  const float* b;
  size_t b_stride;
  size_t steps;
  float* to;
  size_t to_stride;
};

// Half a vector where that takes half of the time: on CPUs with vectors of 512 bits, but units of
// 256.
using HalfTag = hn::Half<FloatTag>;
constexpr bool kHalves = HWY_TARGET <= HWY_AVX3;

// `vectors` vectors, and half a one if `half`. Not inline: all registers are for sums.
template <size_t rows, size_t vectors, bool half>
HWY_NOINLINE void MultiplyTile(const TileOperands& t, size_t column) {
  const FloatTag d;
  const HalfTag dh;
  const size_t lanes = hn::Lanes(d), rest = column + vectors * lanes;
  const float* HWY_RESTRICT a = t.a;
  const float* HWY_RESTRICT b = t.b;
  const size_t a_stride = t.a_stride, b_stride = t.b_stride;
  Vf sum[rows * vectors + 1];
  hn::Vec<HalfTag> rest_sum[half ? rows : 1];
#pragma GCC unroll 24
  for (size_t j = 0; j < rows * vectors; ++j) sum[j] = hn::Zero(d);
#pragma GCC unroll 6
  for (size_t r = 0; r < (half ? rows : 0); ++r) rest_sum[r] = hn::Zero(dh);
  for (size_t i = 0; i < t.steps; ++i) {
    Vf row[vectors + 1];
#pragma GCC unroll 4
    for (size_t c = 0; c < vectors; ++c) {
      row[c] = hn::Load(d, b + i * b_stride + column + c * lanes);
    }
    const auto rest_row = half ? hn::Load(dh, b + i * b_stride + rest) : hn::Zero(dh);
#pragma GCC unroll 6
    for (size_t r = 0; r < rows; ++r) {
      const Vf factor = hn::Set(d, a[r * a_stride + i]);
#pragma GCC unroll 4
      for (size_t c = 0; c < vectors; ++c) {
        sum[r * vectors + c] = hn::MulAdd(factor, row[c], sum[r * vectors + c]);
      }
      if constexpr (half) rest_sum[r] = hn::MulAdd(hn::LowerHalf(factor), rest_row, rest_sum[r]);
    }
  }
#pragma GCC unroll 6
  for (size_t r = 0; r < rows; ++r) {
    float* to = t.to + r * t.to_stride;
#pragma GCC unroll 4
    for (size_t c = 0; c < vectors; ++c) {
      hn::Store(sum[r * vectors + c], d, to + column + c * lanes);
    }
    if constexpr (half) hn::Store(rest_sum[r], dh, to + rest);
  }
}

// At least `columns` columns.
template <size_t rows>
HWY_INLINE void MultiplyRows(const TileOperands& t, size_t columns) {
  const size_t lanes = hn::Lanes(FloatTag()), part = kHalves ? lanes / 2 : lanes;
  size_t c = 0;
  const auto left = [&] { return c < columns ? (columns - c + part - 1) / part * part : 0; };
  if constexpr (kHalves) {
    for (; left() >= 4 * lanes; c += 4 * lanes) MultiplyTile<rows, 4, false>(t, c);
    if (left() == 3 * lanes + part) return MultiplyTile<rows, 3, true>(t, c);
  }
  for (; left() >= 2 * lanes; c += 2 * lanes) MultiplyTile<rows, 2, false>(t, c);
  for (; left() >= lanes; c += lanes) MultiplyTile<rows, 1, false>(t, c);
  if constexpr (kHalves) {
    if (left() != 0) MultiplyTile<rows, 0, true>(t, c);
  }
}

// Where things are in scratch, in floats.
struct KeysLayout {
  size_t keys, padded, depth, width, wide;
  size_t k, v, q, s, o, masks, end = 0;

  explicit KeysLayout(const AttentionProblem& p) {
    const size_t lanes = hn::Lanes(FloatTag());
    keys = static_cast<size_t>(p.keys.extent);
    padded = RoundUp(keys, lanes);
    depth = static_cast<size_t>(p.depth);
    width = static_cast<size_t>(p.width);
    wide = RoundUp(width, lanes);
    k = Take(depth * padded);
    v = Take(keys * std::max(wide, depth));  // first k, before it is transposed
    q = Take(kTileRows * depth);
    s = Take(kTileRows * padded);
    o = Take(kTileRows * wide);
    masks = Take(p.steps.size() * kTileRows * padded);
  }

 private:
  size_t Take(size_t floats) {
    const size_t at = end;
    end += RoundUp(floats, 16);
    return at;
  }
};

template <class T>
struct FewKeys {
  const AttentionTask& task;
  const AttentionProblem& p;
  const KeysLayout l;

  explicit FewKeys(const AttentionTask& t) : task(t), p(*t.problem), l(*t.problem) {}

  float* at(size_t offset) const { return task.scratch + offset; }
  const T* input(size_t i) const { return static_cast<const T*>(task.inputs[i]); }

  void Pack() const {
    float* staged = at(l.v);
    float* k = at(l.k);
    for (size_t i = 0; i < l.keys; ++i) {
      CopyRow(input(1) + static_cast<int64_t>(i) * p.keys.stride[1], p.k_depth, p.scale,
              staged + i * l.depth, l.depth);
    }
    for (size_t d = 0; d < l.depth; ++d) {
      std::fill(k + d * l.padded + l.keys, k + (d + 1) * l.padded, 0.0f);
    }
    static_assert(sizeof(float) == sizeof(uint32_t));
    task.transpose(reinterpret_cast<const uint32_t*>(staged), static_cast<int64_t>(l.depth),
                   reinterpret_cast<uint32_t*>(k), static_cast<int64_t>(l.padded),
                   static_cast<int64_t>(l.keys), static_cast<int64_t>(l.depth));
    for (size_t i = 0; i < l.keys; ++i) {
      float* v = at(l.v) + i * l.wide;
      CopyRow(input(2) + static_cast<int64_t>(i) * p.keys.stride[2], p.v_width, 1, v, l.width);
      std::fill(v + l.width, v + l.wide, 0.0f);
    }
  }

  // A step's values for some queries, as they lie where possible.
  struct Mask {
    const float* values = nullptr;  // null: the step has none
    int64_t by_row = 0;             // stride of queries
    bool by_key = false;
  };
  Mask GetMask(const AttentionStep& step, int64_t row, size_t rows, float* copy) const {
    if (step.input < 0) return {};
    const size_t i = static_cast<size_t>(step.input);
    const int64_t by_row = p.rows.stride[i], by_key = p.keys.stride[i];
    if constexpr (std::is_same_v<T, float>) {
      if (!step.selects() && by_key <= 1) return {input(i) + row * by_row, by_row, by_key != 0};
    }
    const int64_t stride = by_row != 0 ? static_cast<int64_t>(l.padded) : 0;
    for (size_t r = 0; r < (by_row != 0 ? rows : 1); ++r) {
      CopyMaskRow<T>(step, task.inputs[i], (row + static_cast<int64_t>(r)) * by_row, by_key,
                     copy + r * l.padded, by_key != 0 ? l.keys : 1);
    }
    return {copy, stride, by_key != 0};
  }

  template <size_t rows>
  HWY_INLINE void ApplySteps(int64_t row, float* s) const {
    float* copy = at(l.masks);
    for (const AttentionStep& step : p.steps) {
      const Mask m = GetMask(step, row, rows, copy);
      VisitStep(step, [&](auto f) {
        for (size_t r = 0; r < rows; ++r) {
          float* t = s + r * l.padded;
          const float* mask = m.values + static_cast<int64_t>(r) * m.by_row;
          if (m.by_key) {
            ForParts(l.keys, [&](auto part, size_t i) {
              hn::Store(f(hn::Load(FloatTag(), t + i), part.Load(mask + i)), FloatTag(), t + i);
            });
            continue;
          }
          const Vf one = m.values != nullptr ? Const(*mask) : hn::Zero(FloatTag());
          for (size_t i = 0; i < l.padded; i += hn::Lanes(FloatTag())) {
            hn::Store(f(hn::Load(FloatTag(), t + i), one), FloatTag(), t + i);
          }
        }
      });
      copy += kTileRows * l.padded;
    }
  }

  // e^(score - largest) instead of the scores; what the products with v are multiplied by.
  template <size_t rows>
  HWY_INLINE void Exponentials(float* s, float* factors) const {
    const FloatTag d;
    const size_t lanes = hn::Lanes(d), last = l.padded - lanes;
    const auto inside = hn::FirstN(d, l.keys - last);
    float largest[rows];
    for (size_t r = 0; r < rows; ++r) {
      float* t = s + r * l.padded;
      Vf most = hn::IfThenElse(inside, hn::Load(d, t + last), hn::Neg(Infinity()));
      hn::Store(most, d, t + last);
      for (size_t c = 0; c < last; c += lanes) most = hn::Max(most, hn::Load(d, t + c));
      largest[r] = hn::GetLane(hn::MaxOfLanes(d, most));
    }
    Vf sums[rows];
    for (size_t r = 0; r < rows; ++r) {
      float* t = s + r * l.padded;
      const Vf base = Const(largest[r] == -std::numeric_limits<float>::infinity() ? 0 : largest[r]);
      sums[r] = hn::Zero(d);
      for (size_t c = 0; c < l.padded; c += lanes) {
        const Vf x = hn::Sub(hn::Load(d, t + c), base);
        const Vf e = ExpOfNegative(x);
        hn::Store(e, d, t + c);
        sums[r] = hn::Add(sums[r], e);
      }
    }
    for (size_t r = 0; r < rows; ++r) {
      factors[r] = largest[r] <= p.zero_up_to ? 0 : 1 / Total(sums[r]);
    }
  }

  template <size_t rows>
  HWY_NOINLINE void Tile(int64_t row) const {
    TileOperands t{.a = nullptr,
                   .a_stride = 0,
                   .b = at(l.k),
                   .b_stride = l.padded,
                   .steps = l.depth,
                   .to = at(l.s),
                   .to_stride = l.padded};
    const int64_t q_stride = p.rows.stride[0];
    const T* q = input(0) + row * q_stride;
    if (std::is_same_v<T, float> && p.q_depth == 1) {
      t.a = reinterpret_cast<const float*>(q);
      t.a_stride = static_cast<size_t>(q_stride);
    } else {
      for (size_t r = 0; r < rows; ++r) {
        CopyRow(q + static_cast<int64_t>(r) * q_stride, p.q_depth, 1, at(l.q) + r * l.depth,
                l.depth);
      }
      t.a = at(l.q);
      t.a_stride = l.depth;
    }
    MultiplyRows<rows>(t, l.keys);
    ApplySteps<rows>(row, at(l.s));
    float factors[rows];
    Exponentials<rows>(at(l.s), factors);
    MultiplyRows<rows>({.a = at(l.s),
                        .a_stride = l.padded,
                        .b = at(l.v),
                        .b_stride = l.wide,
                        .steps = l.keys,
                        .to = at(l.o),
                        .to_stride = l.wide},
                       l.width);
    const int64_t out_stride = p.rows.stride[AttentionDim::kOut];
    T* out = static_cast<T*>(task.out) + row * out_stride;
    for (size_t r = 0; r < rows; ++r) {
      float* y = at(l.o) + r * l.wide;
      CopyRow(y, 1, factors[r], y, l.width);
      StoreRow(y, l.width, out + static_cast<int64_t>(r) * out_stride, p.out_width);
    }
  }

  // Tiles of as many rows as possible, as even as possible.
  void Run() const {
    static_assert(kTileRows == 6);
    Pack();
    int64_t row = task.row_begin;
    for (int64_t left = task.row_end - row; left > 0; left = task.row_end - row) {
      const int64_t tiles = (left + 5) / 6, rows = (left + tiles - 1) / tiles;
      if (rows == 6) {
        Tile<6>(row);
      } else if (rows == 5) {
        Tile<5>(row);
      } else if (rows == 4) {
        Tile<4>(row);
      } else {
        for (int64_t r = 0; r < rows; ++r) Tile<1>(row + r);
      }
      row += rows;
    }
  }
};

void RunFewKeys(const AttentionTask& task) {
  task.bfloat16 ? FewKeys<uint16_t>(task).Run() : FewKeys<float>(task).Run();
}
size_t FewKeysFloats(const AttentionProblem& p) { return KeysLayout(p).end; }

AttentionKeys GetKeys() { return {&RunFewKeys, &FewKeysFloats}; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(GetKeys);

AttentionKeys FindAttentionKeys() { return HWY_DYNAMIC_DISPATCH(GetKeys)(); }

}  // namespace tenon
#endif
