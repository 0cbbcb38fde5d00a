// The loops behind FindCrossEntropyRow and FindSquareSum, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/vector/loss_simd.cc"
#include "ops/vector/loss_simd.h"

#include <algorithm>
#include <cmath>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "ops/vector/math-inl.h"
#include "ops/vector/tail-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

HWY_INLINE float Total(Vf v) { return hn::GetLane(hn::SumOfLanes(FloatTag(), v)); }

// f(load, store, keep) for each vector of [0, n): whole ones, then what is left. `load(from,
// repeated)` gives a vector, `store(v, to)` writes one, `keep(v)` makes lanes past the end 0.
template <class F>
HWY_INLINE void ForVectors(size_t n, F f) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    f([&](const float* from, bool one) { return one ? Const(*from) : hn::LoadU(d, from + i); },
      [&](Vf v, float* to) { hn::StoreU(v, d, to + i); }, [](Vf v) { return v; });
  }
  if (i == n) return;
  const size_t rest = n - i;
  f([&](const float* from, bool one) { return one ? Const(*from) : LoadTail(from + i, rest); },
    [&](Vf v, float* to) { StoreTail(v, to + i, rest); },
    [&](Vf v) { return hn::IfThenElseZero(hn::FirstN(d, rest), v); });
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
  const auto power = [&](Vf logits) {
    const Vf t = hn::Sub(logits, largest);
    return KeepNaN(t, ExpOfNegative(t));
  };

  Vf sum = hn::Zero(d);
  ForVectors(row.n, [&](auto load, auto, auto keep) {
    sum = hn::Add(sum, keep(power(load(row.logits, one_logit))));
  });
  const float total = Total(sum), log_total = std::log(total);
  const Vf factor = Const(1.0f / total), log = Const(log_total);

  if (row.labels == nullptr) {
    ForVectors(row.n, [&](auto load, auto store, auto) {
      store(hn::Mul(power(load(row.logits, one_logit)), factor), row.backprop);
    });
    row.backprop[row.label] -= 1.0f;
    return log_total - (label_logit - largest_logit);
  }
  Vf loss = hn::Zero(d);
  ForVectors(row.n, [&](auto load, auto store, auto keep) {
    const Vf logits = load(row.logits, one_logit), labels = load(row.labels, one_label);
    const Vf term = hn::Mul(labels, hn::Sub(log, hn::Sub(logits, largest)));
    loss = hn::Add(loss, keep(term));
    store(hn::MulSub(power(logits), factor, labels), row.backprop);
  });
  return Total(loss);
}

double SquareSum(const float* x, size_t n) {
  constexpr size_t kBlock = 4096;
  double total = 0;
  for (size_t begin = 0; begin < n; begin += kBlock) {
    const size_t end = std::min(n, begin + kBlock);
    Vf sum = hn::Zero(FloatTag());
    ForVectors(end - begin, [&](auto load, auto, auto) {
      const Vf v = load(x + begin, false);
      sum = hn::MulAdd(v, v, sum);
    });
    total += static_cast<double>(Total(sum));
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
