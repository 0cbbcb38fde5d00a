// The loops behind FindCrossEntropyRow and FindSquareSum, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduction/loss_simd.cc"
#include "kernels/reduction/loss_simd.h"

#include <algorithm>
#include <cmath>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/simd/part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

// Values of a row that one accumulator sums: the rounding error of a long sum is that of a short
// one.
HWY_INLINE size_t SumLength() { return 32 * hn::Lanes(FloatTag()); }

// The sum of term(part, i) over a row.
template <class Term>
HWY_INLINE float SumOfRow(size_t n, Term term) {
  Vf sum = hn::Zero(FloatTag());
  for (size_t begin = 0; begin < n; begin += SumLength()) {
    Vf some = hn::Zero(FloatTag());
    ForParts(std::min(SumLength(), n - begin), [&](auto part, size_t i) HWY_ATTR {
      some = hn::Add(some, part.Keep(term(part, begin + i)));
    });
    sum = hn::Add(sum, some);
  }
  return Total(sum);
}

float CrossEntropy(const CrossEntropyRow& row) {
  const FloatTag d;
  const bool one_logit = row.repeated_logits, one_label = row.repeated_labels;
  float largest_logit = row.n == 0 ? 0.0f : row.logits[0];
  if (!one_logit) {
    Vf most = Const(largest_logit);
    const size_t whole = row.n / hn::Lanes(d) * hn::Lanes(d);
    for (size_t i = 0; i < whole; i += hn::Lanes(d)) {
      most = hn::Max(most, hn::LoadU(d, row.logits + i));
    }
    largest_logit = hn::GetLane(hn::MaxOfLanes(d, most));
    for (size_t i = whole; i < row.n; ++i) largest_logit = std::max(largest_logit, row.logits[i]);
  }
  const Vf largest = Const(largest_logit);
  const float label_logit = row.labels == nullptr ? row.logits[row.label] : 0.0f;
  const auto power = [&](Vf logits) { return ExpOfNegative(hn::Sub(logits, largest)); };

  const auto logits_at = [&](auto part, size_t i) {
    return one_logit ? Const(row.logits[0]) : part.Load(row.logits + i);
  };

  const float total =
      SumOfRow(row.n, [&](auto part, size_t i) { return power(logits_at(part, i)); });
  const float log_total = std::log(total);
  const Vf factor = Const(1.0f / total), log = Const(log_total);

  if (row.labels == nullptr) {
    ForParts(row.n, [&](auto part, size_t i) {
      part.Store(hn::Mul(power(logits_at(part, i)), factor), row.backprop + i);
    });
    row.backprop[row.label] -= 1.0f;
    return log_total - (label_logit - largest_logit);
  }
  return SumOfRow(row.n, [&](auto part, size_t i) {
    const Vf logits = logits_at(part, i);
    const Vf labels = one_label ? Const(row.labels[0]) : part.Load(row.labels + i);
    part.Store(hn::MulSub(power(logits), factor, labels), row.backprop + i);
    return hn::Mul(labels, hn::Sub(log, hn::Sub(logits, largest)));
  });
}

double SquareSum(const float* x, size_t n) {
  constexpr size_t kBlock = 4096;  // a multiple of SumLength()
  double total = 0;
  for (size_t begin = 0; begin < n; begin += kBlock) {
    total += static_cast<double>(SumOfRow(std::min(kBlock, n - begin), [&](auto part, size_t i) {
      const Vf v = part.Load(x + begin + i);
      return hn::Mul(v, v);
    }));
  }
  return total;
}

CrossEntropyRowFn CrossEntropyFn() { return &CrossEntropy; }
SquareSumFn SquareSumOf() { return &SquareSum; }

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(CrossEntropyFn);
HWY_EXPORT(SquareSumOf);

CrossEntropyRowFn FindCrossEntropyRow() { return HWY_DYNAMIC_DISPATCH(CrossEntropyFn)(); }
SquareSumFn FindSquareSum() { return HWY_DYNAMIC_DISPATCH(SquareSumOf)(); }

}  // namespace tenon
#endif
