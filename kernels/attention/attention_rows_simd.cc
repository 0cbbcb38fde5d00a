// The loops behind FindAttentionRows, compiled for each instruction set: a few queries with keys
// and values as they lie, which costs little more than reading these once.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention/attention_rows_simd.cc"
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

constexpr size_t kRowKeys = 256;  // in a block
constexpr size_t kRowVectors = HWY_TARGET <= HWY_AVX3 ? 4 : 2;

#if HWY_TARGET <= HWY_AVX2
// Masked lanes are not accessed on these targets.
struct KeyRest {
  size_t n;
  HWY_INLINE Vf Load(const float* from) const {
    return hn::MaskedLoad(hn::FirstN(FloatTag(), n), FloatTag(), from);
  }
  HWY_INLINE Vf Load(const uint16_t* from) const { return RestPart{n}.Load(from); }
};
#else
using KeyRest = RestPart;
#endif

// `count` queries (up to `rows`) with keys and values as they lie.
template <class T, size_t rows>
struct Rows {
  const AttentionTask& task;
  const AttentionProblem& p;
  size_t depth, padded, width;
  float *q, *s, *o;
  std::array<float, rows> largest, sums;

  Rows(const AttentionTask& t, int64_t row)
      : task(t),
        p(*t.problem),
        depth(static_cast<size_t>(p.depth)),
        padded(RoundUp(depth, hn::Lanes(FloatTag()))),
        width(static_cast<size_t>(p.width)),
        q(t.scratch),
        s(q + rows * padded),
        o(s + rows * kRowKeys) {
    std::fill_n(q, rows * padded, 0.0f);
    std::fill_n(o, rows * width, 0.0f);
    for (size_t r = 0; r < rows; ++r) {
      const T* from = static_cast<const T*>(task.inputs[0]) +
                      (row + static_cast<int64_t>(r)) * p.rows.stride[0];
      CopyRow(from, 1, p.scale, q + r * padded, depth);
      largest[r] = -std::numeric_limits<float>::infinity();
      sums[r] = 0;
    }
    first = row;
  }
  int64_t first = 0;

  template <size_t keys>
  HWY_INLINE void Scores(const T* k, int64_t stride, float* to) {
    const size_t lanes = hn::Lanes(FloatTag());
    Vf sum[rows * keys];
#pragma GCC unroll 16
    for (size_t i = 0; i < rows * keys; ++i) sum[i] = hn::Zero(FloatTag());
    const auto add = [&](auto part, size_t d) {
      Vf x[keys];
#pragma GCC unroll 4
      for (size_t j = 0; j < keys; ++j) x[j] = part.Load(k + static_cast<int64_t>(j) * stride + d);
#pragma GCC unroll 4
      for (size_t r = 0; r < rows; ++r) {
        const Vf y = hn::LoadU(FloatTag(), q + r * padded + d);
#pragma GCC unroll 4
        for (size_t j = 0; j < keys; ++j)
          sum[r * keys + j] = hn::MulAdd(x[j], y, sum[r * keys + j]);
      }
    };
    size_t d = 0;
    for (; d + lanes <= depth; d += lanes) add(WholePart(), d);
    if (d < depth) add(KeyRest{depth - d}, d);
#pragma GCC unroll 4
    for (size_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
      for (size_t j = 0; j < keys; ++j) to[r * kRowKeys + j] = Total(sum[r * keys + j]);
    }
  }

  // The step's mask at row r of the block, conditions as 1 and 0.
  HWY_INLINE void Apply(const AttentionStep& step, size_t r, int64_t begin, size_t n, float* t) {
    using Kind = AttentionStep::Kind;
    if (step.input < 0) {
      ForParts(n, [&](auto part, size_t i) {
        const Vf x = part.Load(t + i);
        part.Store(step.kind == Kind::kTanh ? Tanh(x) : hn::Mul(x, Const(step.value)), t + i);
      });
      return;
    }
    const size_t i = static_cast<size_t>(step.input);
    const int64_t stride = p.keys.stride[i];
    const int64_t at = (first + static_cast<int64_t>(r)) * p.rows.stride[i] + begin * stride;
    if (step.selects()) {
      const bool* keep = static_cast<const bool*>(task.inputs[i]) + at;
      const bool kept = step.kind == Kind::kSelect;
      for (size_t j = 0; j < n; ++j) {
        if (keep[static_cast<int64_t>(j) * stride] != kept) t[j] = step.value;
      }
      return;
    }
    const T* mask = static_cast<const T*>(task.inputs[i]) + at;
    const auto combine = [&](Vf x, Vf y) {
      return step.kind == Kind::kAdd        ? hn::Add(x, y)
             : step.kind == Kind::kSubtract ? hn::Sub(x, y)
                                            : hn::Mul(x, y);
    };
    if (stride == 1) {
      ForParts(n, [&](auto part, size_t j) {
        part.Store(combine(part.Load(t + j), part.Load(mask + j)), t + j);
      });
    } else {
      for (size_t j = 0; j < n; ++j) {
        const Vf y = Const(ToFloat(mask[static_cast<int64_t>(j) * stride]));
        t[j] = hn::GetLane(combine(Const(t[j]), y));
      }
    }
  }

  // The largest score of the row so far; e^(score - largest) in t. Returns the factor for what was
  // summed before.
  HWY_INLINE float Exponentials(size_t r, size_t n, float* t) {
    Vf most = Const(largest[r]);
    ForParts(n, [&](auto part, size_t i) {
      if constexpr (std::is_same_v<decltype(part), WholePart>) {
        most = hn::Max(most, part.Load(t + i));
      } else {
        const auto inside = hn::FirstN(FloatTag(), n - i);
        most = hn::Max(most, hn::IfThenElse(inside, part.Load(t + i), hn::Neg(Infinity())));
      }
    });
    const float now = hn::GetLane(hn::MaxOfLanes(FloatTag(), most));
    const float base = now == -std::numeric_limits<float>::infinity() ? 0 : now;
    const float factor = hn::GetLane(ExpOfNegative(Const(largest[r] - base)));
    largest[r] = now;
    Vf sum = hn::Zero(FloatTag());
    ForParts(n, [&](auto part, size_t i) {
      const Vf x = hn::Sub(part.Load(t + i), Const(base));
      const Vf e = ExpOfNegative(x);
      part.Store(e, t + i);
      sum = hn::Add(sum, part.Keep(e));
    });
    sums[r] = sums[r] * factor + Total(sum);
    return factor;
  }

  template <size_t vectors, class Part>
  HWY_INLINE void Values(const T* v, int64_t stride, size_t n, Part part, const float* factors,
                         float* to) {
    const size_t lanes = hn::Lanes(FloatTag());
    Vf sum[rows * vectors];
#pragma GCC unroll 16
    for (size_t i = 0; i < rows * vectors; ++i) sum[i] = hn::Zero(FloatTag());
    for (size_t j = 0; j < n; ++j, v += stride) {
      Vf x[vectors];
#pragma GCC unroll 4
      for (size_t c = 0; c < vectors; ++c) x[c] = part.Load(v + c * lanes);
#pragma GCC unroll 4
      for (size_t r = 0; r < rows; ++r) {
        const Vf weight = Const(s[r * kRowKeys + j]);
#pragma GCC unroll 4
        for (size_t c = 0; c < vectors; ++c) {
          sum[r * vectors + c] = hn::MulAdd(weight, x[c], sum[r * vectors + c]);
        }
      }
    }
    for (size_t r = 0; r < rows; ++r) {
      for (size_t c = 0; c < vectors; ++c) {
        float* x = to + r * width + c * lanes;
        part.Store(hn::MulAdd(part.Load(x), Const(factors[r]), sum[r * vectors + c]), x);
      }
    }
  }

  void Block(int64_t begin, size_t n) {
    const int64_t k_stride = p.keys.stride[1], v_stride = p.keys.stride[2];
    const T* k = static_cast<const T*>(task.inputs[1]) + begin * k_stride;
    const T* v = static_cast<const T*>(task.inputs[2]) + begin * v_stride;
    size_t j = 0;
    for (; j + 4 <= n; j += 4) Scores<4>(k + static_cast<int64_t>(j) * k_stride, k_stride, s + j);
    for (; j < n; ++j) Scores<1>(k + static_cast<int64_t>(j) * k_stride, k_stride, s + j);
    std::array<float, rows> factors;
    for (size_t r = 0; r < rows; ++r) {
      float* t = s + r * kRowKeys;
      for (const AttentionStep& step : p.steps) Apply(step, r, begin, n, t);
      factors[r] = Exponentials(r, n, t);
    }
    const size_t lanes = hn::Lanes(FloatTag());
    size_t e = 0;
    for (; e + kRowVectors * lanes <= width; e += kRowVectors * lanes) {
      Values<kRowVectors>(v + e, v_stride, n, WholePart(), factors.data(), o + e);
    }
    for (; e + lanes <= width; e += lanes) {
      Values<1>(v + e, v_stride, n, WholePart(), factors.data(), o + e);
    }
    if (e < width) Values<1>(v + e, v_stride, n, RestPart{width - e}, factors.data(), o + e);
  }

  void Run() {
    for (int64_t begin = task.key_begin; begin < task.key_end; begin += kRowKeys) {
      Block(begin, static_cast<size_t>(std::min<int64_t>(kRowKeys, task.key_end - begin)));
    }
    for (size_t r = 0; r < rows; ++r) {
      const int64_t row = first + static_cast<int64_t>(r);
      float* y = o + r * width;
      if (task.partial != nullptr) {
        float* to = task.partial + static_cast<size_t>(row - task.row_begin) * (width + 2);
        std::copy_n(y, width, to);
        to[width] = sums[r];
        to[width + 1] = largest[r];
        continue;
      }
      const Vf factor = Const(largest[r] <= p.zero_up_to ? 0 : 1 / sums[r]);
      ForParts(width,
               [&](auto part, size_t i) { part.Store(hn::Mul(part.Load(y + i), factor), y + i); });
      StoreRow(y, width, static_cast<T*>(task.out) + row * p.rows.stride[AttentionDim::kOut],
               p.out_width);
    }
  }
};

template <class T>
void RunRows(const AttentionTask& task) {
  int64_t row = task.row_begin;
  for (; row + 4 <= task.row_end; row += 4) Rows<T, 4>(task, row).Run();
  if (row + 2 <= task.row_end) {
    Rows<T, 2>(task, row).Run();
    row += 2;
  }
  if (row < task.row_end) Rows<T, 1>(task, row).Run();
}

void RunRowsOf(const AttentionTask& task) {
  task.bfloat16 ? RunRows<uint16_t>(task) : RunRows<float>(task);
}
size_t RowsFloats(const AttentionProblem& p) {
  const size_t padded = RoundUp(static_cast<size_t>(p.depth), hn::Lanes(FloatTag()));
  return RoundUp(4 * (padded + kRowKeys + static_cast<size_t>(p.width)), 16);
}

AttentionRows GetRows() { return {&RunRowsOf, &RowsFloats}; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(GetRows);

AttentionRows FindAttentionRows() { return HWY_DYNAMIC_DISPATCH(GetRows)(); }

}  // namespace tenon
#endif
