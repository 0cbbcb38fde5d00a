// The loops behind FindArgReduceLoops, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/reduction/arg_reduce_simd.cc"
#include "kernels/reduction/arg_reduce_simd.h"

#include <limits>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/simd/part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

template <bool largest>
HWY_INLINE auto IsBetter(Vf a, Vf b) {
  return largest ? hn::Gt(a, b) : hn::Lt(a, b);
}
// A NaN never wins.
template <bool largest>
HWY_INLINE Vf BetterOf(Vf best, Vf v) {
  return hn::IfThenElse(IsBetter<largest>(v, best), v, best);
}

// Finds the extreme first, then where it is: the first pass has no dependence on indices.
template <class T, bool largest>
size_t ArgRow(const void* row, size_t n) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  const T* const x = static_cast<const T*>(row);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Vf start = Const(largest ? -kInfinity : kInfinity);
  Vf b0 = start, b1 = start, b2 = start, b3 = start;
  size_t i = 0;
  const WholePart whole;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    b0 = BetterOf<largest>(b0, whole.Load(x + i));
    b1 = BetterOf<largest>(b1, whole.Load(x + i + lanes));
    b2 = BetterOf<largest>(b2, whole.Load(x + i + 2 * lanes));
    b3 = BetterOf<largest>(b3, whole.Load(x + i + 3 * lanes));
  }
  for (; i + lanes <= n; i += lanes) b0 = BetterOf<largest>(b0, whole.Load(x + i));
  if (i < n) {
    const Vf v = RestPart{n - i}.Load(x + i);
    b1 = BetterOf<largest>(b1, hn::IfThenElse(hn::FirstN(d, n - i), v, start));
  }
  const Vf all = BetterOf<largest>(BetterOf<largest>(b0, b1), BetterOf<largest>(b2, b3));
  const Vf best = largest ? hn::MaxOfLanes(d, all) : hn::MinOfLanes(d, all);

  size_t found = 0;  // of NaNs alone, none is equal to the extreme
  bool done = false;
  ForParts(n, [&](auto part, size_t k) HWY_ATTR {
    if (done) return;
    // A lane past the end is 0; if that is the extreme, an element before it is 0, too.
    const intptr_t at = hn::FindFirstTrue(d, hn::Eq(part.Load(x + k), best));
    if (at < 0) return;
    found = k + static_cast<size_t>(at);
    done = true;
  });
  return found;
}

HWY_INLINE void StoreIndices(WholePart, hn::Vec<IntTag> v, int32_t* to) {
  hn::StoreU(v, IntTag(), to);
}
HWY_INLINE void StoreIndices(RestPart part, hn::Vec<IntTag> v, int32_t* to) {
  StoreFirst(IntTag(), v, to, part.n);
}

template <class T, bool largest>
void ArgColumns(const void* from, int32_t rows, int64_t stride, size_t columns, int32_t* out) {
  const T* const x = static_cast<const T*>(from);
  ForParts(columns, [&](auto part, size_t c) HWY_ATTR {
    const T* at = x + c;
    Vf best = part.Load(at);
    auto index = hn::Zero(IntTag());
    for (int32_t r = 1; r < rows; ++r) {
      at += stride;
      const Vf v = part.Load(at);
      const auto replaces_nan = hn::AndNot(hn::IsNaN(v), hn::IsNaN(best));
      const auto better = hn::Or(IsBetter<largest>(v, best), replaces_nan);
      best = hn::IfThenElse(better, v, best);
      index = hn::IfThenElse(hn::RebindMask(IntTag(), better), hn::Set(IntTag(), r), index);
    }
    StoreIndices(part, index, out + c);
  });
}

template <class T>
ArgReduceLoops ArgLoopsOf(bool largest) {
  if (largest) return {&ArgRow<T, true>, &ArgColumns<T, true>};
  return {&ArgRow<T, false>, &ArgColumns<T, false>};
}
ArgReduceLoops ArgLoopsFor(ArgElement element, bool largest) {
  return element == ArgElement::kFloat ? ArgLoopsOf<float>(largest) : ArgLoopsOf<uint16_t>(largest);
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(ArgLoopsFor);

ArgReduceLoops FindArgReduceLoops(ArgElement element, bool largest) {
  return HWY_DYNAMIC_DISPATCH(ArgLoopsFor)(element, largest);
}

}  // namespace tenon
#endif
