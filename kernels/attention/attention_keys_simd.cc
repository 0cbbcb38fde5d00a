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
#include <array>
#include <limits>
#include <type_traits>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/attention/attention_simd.h"
#include "kernels/attention/rows-inl.h"
#include "kernels/matmul/blocked_product_simd.h"
#include "kernels/matmul/row_product_simd.h"
#include "kernels/simd/math-inl.h"
#include "kernels/simd/part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

constexpr size_t kQueries = 24;  // at most, computed together

struct KeysLayout : ScratchLayout {
  size_t keys, padded, depth, width;
  size_t k_panel, v_panel;  // columns that lie together
  size_t k, v, q, s, o, masks;

  explicit KeysLayout(const AttentionProblem& p) {
    keys = static_cast<size_t>(p.keys.extent);
    padded = RoundUp(keys, hn::Lanes(FloatTag()));
    depth = static_cast<size_t>(p.depth);
    width = static_cast<size_t>(p.width);
    k_panel = RowPanelsOf(keys).width;
    v_panel = RowPanelsOf(width).width;
    k = Take(depth * RoundUp(keys, k_panel));
    v = Take(keys * std::max(RoundUp(width, v_panel), depth));  // first k, before it is transposed
    q = Take(kQueries * depth);
    s = Take(kQueries * padded);
    o = Take(kQueries * width);
    masks = Take(p.steps.size() * kQueries * padded);
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
    for (size_t first = 0; first < l.keys; first += l.k_panel) {
      const size_t columns = std::min(l.k_panel, l.keys - first);
      float* panel = k + first * l.depth;
      for (size_t d = 0; d < l.depth; ++d) {
        std::fill(panel + d * l.k_panel + columns, panel + (d + 1) * l.k_panel, 0.0f);
      }
      Transposed(task, staged + first * l.depth, l.depth, panel, l.k_panel, columns, l.depth);
    }
    for (size_t i = 0; i < l.keys; ++i) {
      const T* row = input(2) + static_cast<int64_t>(i) * p.keys.stride[2];
      for (size_t first = 0; first < l.width; first += l.v_panel) {
        const size_t columns = std::min(l.v_panel, l.width - first);
        float* v = at(l.v) + first * l.keys + i * l.v_panel;
        CopyRow(row + static_cast<int64_t>(first) * p.v_width, p.v_width, 1, v, columns);
        std::fill(v + columns, v + l.v_panel, 0.0f);
      }
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

  void ApplySteps(int64_t row, size_t rows, float* s) const {
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
      copy += kQueries * l.padded;
    }
  }

  // e^(score - largest) instead of the scores; what the products with v are multiplied by.
  void Exponentials(size_t rows, float* s, float* factors) const {
    const FloatTag d;
    const size_t lanes = hn::Lanes(d), last = l.padded - lanes;
    const auto inside = hn::FirstN(d, l.keys - last);
    std::array<float, kQueries> largest;
    for (size_t r = 0; r < rows; ++r) {
      float* t = s + r * l.padded;
      Vf most = hn::IfThenElse(inside, hn::Load(d, t + last), hn::Neg(Infinity()));
      hn::Store(most, d, t + last);
      for (size_t c = 0; c < last; c += lanes) most = hn::Max(most, hn::Load(d, t + c));
      largest[r] = hn::GetLane(hn::MaxOfLanes(d, most));
    }
    Vf sums[kQueries];
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

  // out[rows, columns] = a * w
  void Multiply(const float* a, size_t a_row, size_t rows, size_t terms, size_t columns,
                const float* w, size_t width, float* out, size_t out_row) const {
    RowProduct product;
    product.a = a;
    product.a_row = a_row;
    product.rows = rows;
    product.columns = columns;
    product.terms = std::max<size_t>(terms, 1);
    product.part = EqualTerms(product.terms);
    product.segments = terms == 0 ? 0 : 1;
    product.w = w;
    product.width = width;
    product.panel = terms * width;
    product.out = out;
    product.out_row = out_row;
    task.multiply(product);
  }

  void Compute(int64_t row, size_t rows) const {
    const int64_t q_stride = p.rows.stride[0];
    const T* q = input(0) + row * q_stride;
    const float* a = at(l.q);
    size_t a_row = l.depth;
    if (std::is_same_v<T, float> && p.q_depth == 1) {
      a = reinterpret_cast<const float*>(q);
      a_row = static_cast<size_t>(q_stride);
    } else {
      for (size_t r = 0; r < rows; ++r) {
        CopyRow(q + static_cast<int64_t>(r) * q_stride, p.q_depth, 1, at(l.q) + r * l.depth,
                l.depth);
      }
    }
    float *s = at(l.s), *o = at(l.o);
    // Also the columns up to the next vector, or half one, so that nothing less is stored.
    const size_t lanes = hn::Lanes(FloatTag());
    const size_t columns = RoundUp(l.keys, HWY_TARGET <= HWY_AVX3 ? lanes / 2 : lanes);
    Multiply(a, a_row, rows, l.depth, columns, at(l.k), l.k_panel, s, l.padded);
    ApplySteps(row, rows, s);
    std::array<float, kQueries> factors;
    Exponentials(rows, s, factors.data());
    Multiply(s, l.padded, rows, l.keys, l.width, at(l.v), l.v_panel, o, l.width);
    const int64_t out_stride = p.rows.stride[AttentionDim::kOut];
    T* out = static_cast<T*>(task.out) + row * out_stride;
    for (size_t r = 0; r < rows; ++r) {
      float* y = o + r * l.width;
      CopyRow(y, 1, factors[r], y, l.width);
      StoreRow(y, l.width, out + static_cast<int64_t>(r) * out_stride, p.out_width);
    }
  }

  void Run() const {
    Pack();
    const int64_t rows = task.row_end - task.row_begin;
    const int64_t parts = CeilDiv(rows, static_cast<int64_t>(kQueries));
    for (int64_t i = 0; i < parts; ++i) {
      const int64_t first = rows * i / parts, last = rows * (i + 1) / parts;
      Compute(task.row_begin + first, static_cast<size_t>(last - first));
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
