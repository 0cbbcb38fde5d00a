// The loops behind FindLayerNormRow and FindSoftmaxRow, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/normalization/row_simd.cc"
#include "kernels/normalization/row_simd.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/simd/math-inl.h"
#include "kernels/simd/part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

HWY_INLINE float Largest(Vf v) { return hn::GetLane(hn::MaxOfLanes(FloatTag(), v)); }
HWY_INLINE Vf First(size_t n, Vf v) { return hn::IfThenElseZero(hn::FirstN(FloatTag(), n), v); }

// How many of a row's vectors one accumulator sums: about as many as there are such sums, so that
// neither they nor their total are long sums.
HWY_INLINE size_t VectorsPerSum(size_t vectors) {
  size_t n = 32;
  while (n * n < vectors) n *= 2;
  return n;
}

void LayerNorm(const LayerNormRow& row) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  const size_t n = row.n, whole = n / lanes * lanes, rest = n - whole;
  const float* x = row.x;

  Vf sum = hn::Zero(d);
  const size_t block = VectorsPerSum(whole / lanes) * lanes;
  if (row.residual != nullptr) {
    float* s = row.sum != nullptr ? row.sum : row.y;
    for (size_t i = 0; i < whole;) {
      Vf part = hn::Zero(d);
      for (const size_t end = std::min(whole, i + block); i < end; i += lanes) {
        const Vf v = hn::Add(hn::LoadU(d, x + i), hn::LoadU(d, row.residual + i));
        hn::StoreU(v, d, s + i);
        part = hn::Add(part, v);
      }
      sum = hn::Add(sum, part);
    }
    if (rest > 0) {
      const Vf v = hn::Add(LoadTail(x + whole, rest), LoadTail(row.residual + whole, rest));
      StoreTail(v, s + whole, rest);
      sum = hn::Add(sum, v);
    }
    x = s;
  } else {
    for (size_t i = 0; i < whole;) {
      Vf part0 = hn::Zero(d), part1 = part0;
      const size_t end = std::min(whole, i + 2 * block);
      for (; i + 2 * lanes <= end; i += 2 * lanes) {
        part0 = hn::Add(part0, hn::LoadU(d, x + i));
        part1 = hn::Add(part1, hn::LoadU(d, x + i + lanes));
      }
      if (i < end) {
        part0 = hn::Add(part0, hn::LoadU(d, x + i));
        i += lanes;
      }
      sum = hn::Add(sum, hn::Add(part0, part1));
    }
    if (rest > 0) sum = hn::Add(sum, LoadTail(x + whole, rest));
  }
  const float count = static_cast<float>(n);
  const Vf mean = Const(Total(sum) / count);

  Vf squares = hn::Zero(d);
  size_t i = 0;
  while (i < whole) {
    Vf part0 = hn::Zero(d), part1 = part0;
    const size_t end = std::min(whole, i + 2 * block);
    for (; i + 2 * lanes <= end; i += 2 * lanes) {
      const Vf a = hn::Sub(hn::LoadU(d, x + i), mean);
      const Vf b = hn::Sub(hn::LoadU(d, x + i + lanes), mean);
      part0 = hn::MulAdd(a, a, part0);
      part1 = hn::MulAdd(b, b, part1);
    }
    if (i < end) {
      const Vf a = hn::Sub(hn::LoadU(d, x + i), mean);
      part0 = hn::MulAdd(a, a, part0);
      i += lanes;
    }
    squares = hn::Add(squares, hn::Add(part0, part1));
  }
  if (rest > 0) {
    const Vf a = First(rest, hn::Sub(LoadTail(x + whole, rest), mean));
    squares = hn::MulAdd(a, a, squares);
  }
  const float variance = Total(squares) / count;
  const Vf scale = Const(1.0f / std::sqrt(variance + row.epsilon));

  for (i = 0; i < whole; i += lanes) {
    const Vf centered = hn::Sub(hn::LoadU(d, x + i), mean);
    const Vf gain = hn::Mul(scale, hn::LoadU(d, row.gamma + i));
    hn::StoreU(hn::MulAdd(centered, gain, hn::LoadU(d, row.beta + i)), d, row.y + i);
  }
  if (rest > 0) {
    const Vf centered = hn::Sub(LoadTail(x + i, rest), mean);
    const Vf gain = hn::Mul(scale, LoadTail(row.gamma + i, rest));
    StoreTail(hn::MulAdd(centered, gain, LoadTail(row.beta + i, rest)), row.y + i, rest);
  }
}

// s at position i; with a residual, it is stored at `to`.
HWY_INLINE Vf SummandsOf(const LayerNormRow& row, size_t i, float* to) {
  const FloatTag d;
  const Vf x = hn::LoadU(d, row.x + i);
  if (row.residual == nullptr) return x;
  const Vf s = hn::Add(x, hn::LoadU(d, row.residual + i));
  hn::StoreU(s, d, to + i);
  return s;
}

void RmsNorm(const LayerNormRow& row) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  const size_t n = row.n, whole = n / lanes * lanes, rest = n - whole;
  float* const to = row.sum != nullptr ? row.sum : row.y;
  const float* const s = row.residual != nullptr ? to : row.x;

  const size_t block = VectorsPerSum(whole / lanes) * lanes;
  Vf squares = hn::Zero(d);
  size_t i = 0;
  while (i < whole) {
    Vf part0 = hn::Zero(d), part1 = part0;
    const size_t end = std::min(whole, i + 2 * block);
    for (; i + 2 * lanes <= end; i += 2 * lanes) {
      const Vf a = SummandsOf(row, i, to), b = SummandsOf(row, i + lanes, to);
      part0 = hn::MulAdd(a, a, part0);
      part1 = hn::MulAdd(b, b, part1);
    }
    if (i < end) {
      const Vf a = SummandsOf(row, i, to);
      part0 = hn::MulAdd(a, a, part0);
      i += lanes;
    }
    squares = hn::Add(squares, hn::Add(part0, part1));
  }
  if (rest > 0) {
    Vf a = LoadTail(row.x + whole, rest);
    if (row.residual != nullptr) {
      a = hn::Add(a, LoadTail(row.residual + whole, rest));
      StoreTail(a, to + whole, rest);
    }
    a = First(rest, a);
    squares = hn::MulAdd(a, a, squares);
  }
  const float mean = Total(squares) / static_cast<float>(n);
  const Vf scale = Const(1.0f / std::sqrt(mean + row.epsilon));

  for (i = 0; i < whole; i += lanes) {
    const Vf scaled = hn::Mul(hn::LoadU(d, s + i), scale);
    hn::StoreU(hn::Mul(scaled, hn::LoadU(d, row.gamma + i)), d, row.y + i);
  }
  if (rest > 0) {
    const Vf scaled = hn::Mul(LoadTail(s + i, rest), scale);
    StoreTail(hn::Mul(scaled, LoadTail(row.gamma + i, rest)), row.y + i, rest);
  }
}

// t at position i: whole vectors, or `rest` values.
HWY_INLINE Vf LoadOf(const SoftmaxRow& row, int input, size_t i) {
  const float* from = row.inputs[input];
  return row.repeated[input] ? Const(from[0]) : hn::LoadU(FloatTag(), from + i);
}
HWY_INLINE Vf LoadTailOf(const SoftmaxRow& row, int input, size_t i, size_t rest) {
  const float* from = row.inputs[input];
  return row.repeated[input] ? Const(from[0]) : LoadTail(from + i, rest);
}

// Writes t to y unless it is x itself, and returns its largest value.
HWY_INLINE float ScaleAndMask(const SoftmaxRow& row, size_t whole, size_t rest) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  const Vf scale = Const(row.scale);
  Vf largest = hn::Neg(Infinity());
  const bool one_mask = row.num_inputs == 2 && !row.repeated[0] && !row.repeated[1];
  size_t i = 0;
  if (one_mask) {
    for (; i < whole; i += lanes) {
      const Vf t =
          hn::MulAdd(hn::LoadU(d, row.inputs[0] + i), scale, hn::LoadU(d, row.inputs[1] + i));
      hn::StoreU(t, d, row.y + i);
      largest = hn::Max(largest, t);
    }
  } else {
    for (; i < whole; i += lanes) {
      Vf t = hn::Mul(LoadOf(row, 0, i), scale);
      for (int m = 1; m < row.num_inputs; ++m) t = hn::Add(t, LoadOf(row, m, i));
      hn::StoreU(t, d, row.y + i);
      largest = hn::Max(largest, t);
    }
  }
  if (rest > 0) {
    Vf t = LoadTailOf(row, 0, i, rest);
    if (one_mask) {
      t = hn::MulAdd(t, scale, LoadTailOf(row, 1, i, rest));
    } else {
      t = hn::Mul(t, scale);
      for (int m = 1; m < row.num_inputs; ++m) t = hn::Add(t, LoadTailOf(row, m, i, rest));
    }
    StoreTail(t, row.y + i, rest);
    largest = hn::Max(largest, hn::IfThenElse(hn::FirstN(d, rest), t, hn::Neg(Infinity())));
  }
  return Largest(largest);
}

HWY_INLINE float LargestOf(const float* x, size_t whole, size_t rest) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  Vf largest = hn::Neg(Infinity());
  for (size_t i = 0; i < whole; i += lanes) largest = hn::Max(largest, hn::LoadU(d, x + i));
  if (rest > 0) {
    const Vf t = LoadTail(x + whole, rest);
    largest = hn::Max(largest, hn::IfThenElse(hn::FirstN(d, rest), t, hn::Neg(Infinity())));
  }
  return Largest(largest);
}

// e^(t - largest); NaN stays NaN, including that of infinity - infinity.
HWY_INLINE Vf ExpOfDifference(Vf t, Vf largest) { return ExpOfNegative(hn::Sub(t, largest)); }

template <SoftmaxKind kKind>
void Softmax(const SoftmaxRow& row) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  const size_t n = row.n, whole = n / lanes * lanes, rest = n - whole;
  const bool plain = row.num_inputs == 1 && row.scale == 1.0f && !row.repeated[0];
  const float* t = plain ? row.inputs[0] : row.y;
  const Vf largest = Const(plain ? LargestOf(t, whole, rest) : ScaleAndMask(row, whole, rest));

  const size_t block = VectorsPerSum(whole / lanes) * lanes;
  Vf sum = hn::Zero(d);
  for (size_t i = 0; i < whole;) {
    Vf part = hn::Zero(d);
    for (const size_t end = std::min(whole, i + block); i < end; i += lanes) {
      const Vf e = ExpOfDifference(hn::LoadU(d, t + i), largest);
      if (kKind == SoftmaxKind::kSoftmax) hn::StoreU(e, d, row.y + i);
      part = hn::Add(part, e);
    }
    sum = hn::Add(sum, part);
  }
  if (rest > 0) {
    const Vf e = ExpOfDifference(LoadTail(t + whole, rest), largest);
    if (kKind == SoftmaxKind::kSoftmax) StoreTail(e, row.y + whole, rest);
    sum = hn::Add(sum, First(rest, e));
  }

  const float total = Total(sum);
  if (kKind == SoftmaxKind::kSoftmax) {
    const Vf factor = Const(1.0f / total);
    size_t i = 0;
    for (; i < whole; i += lanes) {
      hn::StoreU(hn::Mul(hn::LoadU(d, row.y + i), factor), d, row.y + i);
    }
    if (rest > 0) StoreTail(hn::Mul(LoadTail(row.y + i, rest), factor), row.y + i, rest);
  } else {
    const Vf log = Const(std::log(total));
    size_t i = 0;
    for (; i < whole; i += lanes) {
      hn::StoreU(hn::Sub(hn::Sub(hn::LoadU(d, t + i), largest), log), d, row.y + i);
    }
    if (rest > 0) {
      StoreTail(hn::Sub(hn::Sub(LoadTail(t + i, rest), largest), log), row.y + i, rest);
    }
  }
}

// The elements of a column, as distances from the first row's.
template <size_t columns>
HWY_INLINE hn::Vec<IntTag> RowStarts() {
  return hn::Mul(hn::Iota(IntTag(), 0), hn::Set(IntTag(), static_cast<int32_t>(columns)));
}

// The columns of as many rows as there are lanes.
template <size_t columns>
HWY_INLINE void LoadColumns(const float* x, Vf (&v)[columns]) {
  const FloatTag d;
  if constexpr (columns == 2) {
    hn::LoadInterleaved2(d, x, v[0], v[1]);
  } else if constexpr (columns == 3) {
    hn::LoadInterleaved3(d, x, v[0], v[1], v[2]);
  } else if constexpr (columns == 4) {
    hn::LoadInterleaved4(d, x, v[0], v[1], v[2], v[3]);
  } else {
    for (size_t c = 0; c < columns; ++c) v[c] = hn::GatherIndex(d, x + c, RowStarts<columns>());
  }
}
template <size_t columns>
HWY_INLINE void StoreColumns(const Vf (&v)[columns], float* y) {
  const FloatTag d;
  if constexpr (columns == 2) {
    hn::StoreInterleaved2(v[0], v[1], d, y);
  } else if constexpr (columns == 3) {
    hn::StoreInterleaved3(v[0], v[1], v[2], d, y);
  } else if constexpr (columns == 4) {
    hn::StoreInterleaved4(v[0], v[1], v[2], v[3], d, y);
  } else {
    for (size_t c = 0; c < columns; ++c) hn::ScatterIndex(v[c], d, y + c, RowStarts<columns>());
  }
}

template <SoftmaxKind kKind, size_t columns>
HWY_INLINE void SoftmaxOfColumns(const float* x, Vf scale, float* y) {
  Vf t[columns], e[columns];
  LoadColumns(x, t);
  for (Vf& v : t) v = hn::Mul(v, scale);
  Vf largest = t[0];
  for (size_t c = 1; c < columns; ++c) largest = hn::Max(largest, t[c]);
  for (size_t c = 0; c < columns; ++c) e[c] = ExpOfDifference(t[c], largest);
  Vf sum = e[0];
  for (size_t c = 1; c < columns; ++c) sum = hn::Add(sum, e[c]);
  if (kKind == SoftmaxKind::kSoftmax) {
    const Vf factor = hn::Div(Const(1.0f), sum);
    for (Vf& v : e) v = hn::Mul(v, factor);
    StoreColumns(e, y);
  } else {
    const Vf log = Log(sum);
    for (Vf& v : t) v = hn::Sub(hn::Sub(v, largest), log);
    StoreColumns(t, y);
  }
}

template <SoftmaxKind kKind, size_t columns>
void SoftmaxOfShortRows(const float* x, float scale, size_t rows, float* y) {
  const size_t lanes = hn::Lanes(FloatTag());
  const Vf factor = Const(scale);
  size_t r = 0;
  for (; r + lanes <= rows; r += lanes) {
    SoftmaxOfColumns<kKind, columns>(x + r * columns, factor, y + r * columns);
  }
  if (r == rows) return;
  HWY_ALIGN float part[columns * hn::MaxLanes(FloatTag())] = {};
  std::copy_n(x + r * columns, (rows - r) * columns, part);
  SoftmaxOfColumns<kKind, columns>(part, factor, part);
  std::copy_n(part, (rows - r) * columns, y + r * columns);
}

template <SoftmaxKind kKind>
ShortRowsFn ShortRowsOf(size_t columns) {
  static constexpr std::array<ShortRowsFn, kFewColumns - 1> kTable = {
      &SoftmaxOfShortRows<kKind, 2>, &SoftmaxOfShortRows<kKind, 3>, &SoftmaxOfShortRows<kKind, 4>,
      &SoftmaxOfShortRows<kKind, 5>, &SoftmaxOfShortRows<kKind, 6>, &SoftmaxOfShortRows<kKind, 7>,
      &SoftmaxOfShortRows<kKind, 8>};
  return kTable[columns - 2];
}

void SelectRow(const float* x, float scale, const bool* keep, float masked, float* y, size_t n) {
  const FloatTag d;
  const hn::Rebind<uint8_t, FloatTag> d8;
  const size_t lanes = hn::Lanes(d);
  const auto* bytes = reinterpret_cast<const uint8_t*>(keep);
  const Vf factor = Const(scale), other = Const(masked);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto wide = hn::PromoteTo(IntTag(), hn::LoadU(d8, bytes + i));
    const auto kept = hn::RebindMask(d, hn::Ne(wide, hn::Zero(IntTag())));
    hn::StoreU(hn::IfThenElse(kept, hn::Mul(hn::LoadU(d, x + i), factor), other), d, y + i);
  }
  for (; i < n; ++i) y[i] = keep[i] ? x[i] * scale : masked;
}

SelectRowFn SelectFn() { return &SelectRow; }
LayerNormRowFn LayerNormFn() { return &LayerNorm; }
LayerNormRowFn RmsNormFn() { return &RmsNorm; }
ShortRowsFn ShortRowsFor(SoftmaxKind kind, size_t columns) {
  return kind == SoftmaxKind::kSoftmax ? ShortRowsOf<SoftmaxKind::kSoftmax>(columns)
                                       : ShortRowsOf<SoftmaxKind::kLogSoftmax>(columns);
}
SoftmaxRowFn SoftmaxFn(SoftmaxKind kind) {
  return kind == SoftmaxKind::kSoftmax ? &Softmax<SoftmaxKind::kSoftmax>
                                       : &Softmax<SoftmaxKind::kLogSoftmax>;
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(LayerNormFn);
HWY_EXPORT(RmsNormFn);
HWY_EXPORT(SoftmaxFn);
HWY_EXPORT(ShortRowsFor);
HWY_EXPORT(SelectFn);

LayerNormRowFn FindLayerNormRow() { return HWY_DYNAMIC_DISPATCH(LayerNormFn)(); }
LayerNormRowFn FindRmsNormRow() { return HWY_DYNAMIC_DISPATCH(RmsNormFn)(); }
SoftmaxRowFn FindSoftmaxRow(SoftmaxKind kind) { return HWY_DYNAMIC_DISPATCH(SoftmaxFn)(kind); }
ShortRowsFn FindSoftmaxOfShortRows(SoftmaxKind kind, size_t columns) {
  return HWY_DYNAMIC_DISPATCH(ShortRowsFor)(kind, columns);
}
SelectRowFn FindSelectRow() { return HWY_DYNAMIC_DISPATCH(SelectFn)(); }

}  // namespace tenon
#endif
