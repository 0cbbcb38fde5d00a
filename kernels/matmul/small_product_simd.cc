// The loops behind FindSmallProduct, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/matmul/small_product_simd.cc"
#include "kernels/matmul/small_product_simd.h"

#include <algorithm>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/simd/part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

// A block of the output stays in registers: this many rows, by this many vectors.
constexpr size_t kRows = 6;
constexpr size_t kTogether = HWY_TARGET <= HWY_AVX3 ? 4 : 2;
// Rows of b that one pass over a single row of the output sums; 8 are more streams than the
// prefetchers follow well.
constexpr size_t kTerms = 4;
// Terms that one accumulator sums: the rounding error of a long sum is that of a short one.
constexpr size_t kSumTerms = 256;
// Those of a single row, which adds them in groups of kTerms, and the columns of such a sum, which
// stay in the innermost cache.
constexpr size_t kRowTerms = 4 * kSumTerms;
constexpr size_t kRowColumns = 1024;

// The sum of `terms` terms, stored if it is the `first` one and added to the output otherwise.
template <size_t rows, size_t vectors, class Part>
HWY_INLINE void BlockTerms(const SmallProduct& p, Part part, size_t terms, bool first,
                           const float* HWY_RESTRICT a, const float* HWY_RESTRICT b,
                           float* HWY_RESTRICT out) {
  const size_t lanes = hn::Lanes(FloatTag());
  Vf sum[rows * vectors];
#pragma GCC unroll 32
  for (size_t i = 0; i < rows * vectors; ++i) sum[i] = hn::Zero(FloatTag());
  for (size_t k = 0; k < terms; ++k, a += p.a_column, b += p.b_row) {
    Vf row[vectors];
#pragma GCC unroll 4
    for (size_t v = 0; v < vectors; ++v) row[v] = part.Load(b + v * lanes);
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; ++i) {
      const Vf factor = hn::Set(FloatTag(), a[i * p.a_row]);
#pragma GCC unroll 4
      for (size_t v = 0; v < vectors; ++v) {
        sum[i * vectors + v] = hn::MulAdd(factor, row[v], sum[i * vectors + v]);
      }
    }
  }
  if (!first) {
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; ++i) {
#pragma GCC unroll 4
      for (size_t v = 0; v < vectors; ++v) {
        Vf& total = sum[i * vectors + v];
        total = hn::Add(part.Load(out + i * p.out_row + v * lanes), total);
      }
    }
  }
#pragma GCC unroll 8
  for (size_t i = 0; i < rows; ++i) {
#pragma GCC unroll 4
    for (size_t v = 0; v < vectors; ++v) {
      part.Store(sum[i * vectors + v], out + i * p.out_row + v * lanes);
    }
  }
}

template <size_t rows, size_t vectors, class Part>
HWY_INLINE void Block(const SmallProduct& p, Part part, const float* a, const float* b,
                      float* out) {
  size_t k = 0;
  do {
    const size_t terms = std::min(kSumTerms, p.k - k);
    BlockTerms<rows, vectors>(p, part, terms, k == 0, a + k * p.a_column, b + k * p.b_row, out);
    k += terms;
  } while (k < p.k);
}

// All rows for the columns of `vectors` vectors.
template <size_t vectors, class Part>
HWY_INLINE void Columns(const SmallProduct& p, Part part, const float* a, const float* b,
                        float* out) {
  size_t i = 0;
  for (; i + kRows <= p.m; i += kRows) {
    Block<kRows, vectors>(p, part, a + i * p.a_row, b, out + i * p.out_row);
  }
  for (; i + 2 <= p.m; i += 2) {
    Block<2, vectors>(p, part, a + i * p.a_row, b, out + i * p.out_row);
  }
  if (i < p.m) Block<1, vectors>(p, part, a + i * p.a_row, b, out + i * p.out_row);
}

// A single row reads b once, so it should read it in order. The output accumulates sums of a few
// terms each.
template <size_t terms, class Part>
HWY_INLINE void AddTerms(const SmallProduct& p, Part part, bool first, const Vf* factors,
                         const float* b, float* out) {
  Vf sum = hn::Mul(factors[0], part.Load(b));
#pragma GCC unroll 8
  for (size_t t = 1; t < terms; ++t) sum = hn::MulAdd(factors[t], part.Load(b + t * p.b_row), sum);
  part.Store(hn::Add(first ? hn::Zero(FloatTag()) : part.Load(out), sum), out);
}
// The columns [0, n) of b and out.
template <size_t terms>
HWY_INLINE void Terms(const SmallProduct& p, bool first, size_t n, const float* HWY_RESTRICT a,
                      const float* HWY_RESTRICT b, float* HWY_RESTRICT out) {
  const size_t lanes = hn::Lanes(FloatTag());
  Vf factors[terms];
#pragma GCC unroll 8
  for (size_t t = 0; t < terms; ++t) factors[t] = hn::Set(FloatTag(), a[t * p.a_column]);
  size_t j = 0;
  for (; j + lanes <= n; j += lanes)
    AddTerms<terms>(p, WholePart(), first, factors, b + j, out + j);
  if (j < n) AddTerms<terms>(p, RestPart{n - j}, first, factors, b + j, out + j);
}
// The terms [k, end).
HWY_INLINE void SumTerms(const SmallProduct& p, size_t k, size_t end, size_t n, const float* a,
                         const float* b, float* out) {
  const size_t begin = k;
  for (; k + kTerms <= end; k += kTerms) {
    Terms<kTerms>(p, k == begin, n, a + k * p.a_column, b + k * p.b_row, out);
  }
  for (; k < end; ++k) Terms<1>(p, k == begin, n, a + k * p.a_column, b + k * p.b_row, out);
}
void OneRow(const SmallProduct& p, const float* a, const float* b, float* out) {
  if (p.k <= kRowTerms) return SumTerms(p, 0, p.k, p.n, a, b, out);
  HWY_ALIGN float part[kRowColumns];
  for (size_t j = 0; j < p.n; j += kRowColumns) {
    const size_t n = std::min(kRowColumns, p.n - j);
    SumTerms(p, 0, kRowTerms, n, a, b + j, out + j);
    for (size_t k = kRowTerms; k < p.k; k += kRowTerms) {
      SumTerms(p, k, std::min(k + kRowTerms, p.k), n, a, b + j, part);
      for (size_t i = 0; i < n; ++i) out[j + i] += part[i];
    }
  }
}

// Rows that are multiplied by a vector together, which share its loads, and whose lanes are added
// together.
using GroupTag = hn::CappedTag<float, 8>;
constexpr size_t kGroup = hn::MaxLanes(GroupTag());
using Vg = hn::Vec<GroupTag>;

template <class V>
HWY_INLINE Vg SumHalves(V v) {
  if constexpr (hn::MaxLanes(hn::DFromV<V>()) > kGroup) {
    return hn::Add(hn::LowerHalf(v), hn::UpperHalf(GroupTag(), v));
  } else {
    return v;
  }
}

// Lane i is the sum of all lanes of sums[i]: each is added in the same order.
template <class V>
HWY_INLINE V Totals(const V* sums) {
  const GroupTag d;
  const hn::RepartitionToWide<GroupTag> wide;
  const auto pairs = [&](V a, V b) HWY_ATTR {
    return hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
  };
  const auto fours = [&](V a, V b) HWY_ATTR {
    const auto x = hn::BitCast(wide, a), y = hn::BitCast(wide, b);
    return hn::Add(hn::BitCast(d, hn::InterleaveLower(wide, x, y)),
                   hn::BitCast(d, hn::InterleaveUpper(wide, x, y)));
  };
  // Of four rows, in each block of four lanes.
  const auto block = [&](const V* rows) HWY_ATTR {
    return fours(pairs(rows[0], rows[1]), pairs(rows[2], rows[3]));
  };
  const Vg low = block(sums);
  if constexpr (hn::MaxLanes(hn::DFromV<V>()) == 4) {
    return low;
  } else {
    const Vg high = block(sums + 4);
    return hn::Add(hn::ConcatLowerLower(d, high, low), hn::ConcatUpperUpper(d, high, low));
  }
}

// out[i] (+)= the products of `n` terms of `rows` rows, `step` floats apart, and of a vector.
template <size_t rows>
HWY_INLINE void DotGroup(const float* a, size_t step, const float* vector, size_t n, bool first,
                         float* out) {
  Vf sums[rows];
#pragma GCC unroll 8
  for (Vf& sum : sums) sum = hn::Zero(FloatTag());
  ForParts(n, [&](auto part, size_t k) HWY_ATTR {
    const Vf x = part.Load(vector + k);
#pragma GCC unroll 8
    for (size_t r = 0; r < rows; ++r) {
      sums[r] = hn::MulAdd(part.Load(a + r * step + k), x, sums[r]);
    }
  });
  const GroupTag d;
  Vg halves[kGroup];
#pragma GCC unroll 8
  for (size_t r = 0; r < kGroup; ++r) halves[r] = r < rows ? SumHalves(sums[r]) : hn::Zero(d);
  HWY_ALIGN float totals[kGroup];
  hn::Store(Totals(halves), d, totals);
  for (size_t r = 0; r < rows; ++r) out[r] = first ? totals[r] : out[r] + totals[r];
}

// The products of `count` rows and a vector; a row's does not depend on the others.
void DotRows(const float* a, size_t step, size_t count, const float* vector, size_t k, float* out) {
  const size_t part = kSumTerms * hn::Lanes(FloatTag());
  for (size_t i = 0; i < count;) {
    const size_t left = count - i;
    const size_t rows = left >= kGroup ? kGroup : left >= 4 ? 4 : left >= 2 ? 2 : 1;
    for (size_t at = 0; at < k; at += part) {
      const size_t n = std::min(part, k - at);
      const auto sum = [&]<size_t of>() HWY_ATTR {
        DotGroup<of>(a + i * step + at, step, vector + at, n, at == 0, out + i);
      };
      if (rows == kGroup) {
        sum.template operator()<kGroup>();
      } else if (rows == 4) {
        sum.template operator()<4>();
      } else if (rows == 2) {
        sum.template operator()<2>();
      } else {
        sum.template operator()<1>();
      }
    }
    i += rows;
  }
}

void Multiply(const SmallProduct& p, const float* a, const float* b, float* out) {
  if (p.dots() && p.n == 1 && p.out_row == 1) return DotRows(a, p.a_row, p.m, b, p.k, out);
  if (p.dots()) {
    for (size_t i = 0; i < p.m; ++i) {
      DotRows(b, p.b_column, p.n, a + i * p.a_row, p.k, out + i * p.out_row);
    }
    return;
  }
  if (p.m == 1) return OneRow(p, a, b, out);
  const size_t lanes = hn::Lanes(FloatTag());
  size_t j = 0;
  for (; j + kTogether * lanes <= p.n; j += kTogether * lanes) {
    Columns<kTogether>(p, WholePart(), a, b + j, out + j);
  }
  for (; j + lanes <= p.n; j += lanes) Columns<1>(p, WholePart(), a, b + j, out + j);
  if (j < p.n) Columns<1>(p, RestPart{p.n - j}, a, b + j, out + j);
}

SmallProductFn MultiplyFn() { return &Multiply; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(MultiplyFn);

SmallProductFn FindSmallProduct() { return HWY_DYNAMIC_DISPATCH(MultiplyFn)(); }

}  // namespace tenon
#endif
