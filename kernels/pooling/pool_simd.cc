// The loops behind FindPoolLoops, compiled for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pooling/pool_simd.cc"
#include "kernels/pooling/pool_simd.h"

#include <limits>
#include <type_traits>

#include "hwy/foreach_target.h"  // must come before highway.h
#include "hwy/highway.h"
#include "kernels/simd/part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

using ByteTag = hn::Rebind<uint8_t, FloatTag>;
using Vi = hn::Vec<IntTag>;

HWY_INLINE Vi LoadPlaces(WholePart, const uint8_t* from) {
  return hn::PromoteTo(IntTag(), hn::LoadU(ByteTag(), from));
}
HWY_INLINE Vi LoadPlaces(RestPart part, const uint8_t* from) {
  return hn::PromoteTo(IntTag(), LoadFirst(ByteTag(), from, part.n));
}
HWY_INLINE void StorePlaces(WholePart, Vi v, uint8_t* to) {
  hn::StoreU(hn::DemoteTo(ByteTag(), v), ByteTag(), to);
}
HWY_INLINE void StorePlaces(RestPart part, Vi v, uint8_t* to) {
  StoreFirst(ByteTag(), hn::DemoteTo(ByteTag(), v), to, part.n);
}

// Calls f(count, taps, position) with the number of taps as a constant if it is a common one.
template <class F>
HWY_INLINE void ForPositions(const PoolRow& row, F f) {
  for (size_t i = 0; i < row.positions; ++i) {
    const PoolTap* const taps = row.taps + row.begin[i];
    const size_t count = row.begin[i + 1] - row.begin[i];
    switch (count) {
      case 1:
        f(std::integral_constant<size_t, 1>(), taps, i);
        break;
      case 2:
        f(std::integral_constant<size_t, 2>(), taps, i);
        break;
      case 4:
        f(std::integral_constant<size_t, 4>(), taps, i);
        break;
      case 9:
        f(std::integral_constant<size_t, 9>(), taps, i);
        break;
      default:
        f(count, taps, i);
    }
  }
}

// out = last(reduction over taps of x, taps), starting from `first`
template <class T, class Reduce, class Last>
HWY_INLINE void ReduceTaps(const PoolRow& row, float first, Reduce reduce, Last last) {
  const T* const x = static_cast<const T*>(row.x);
  ForPositions(row, [&](auto count, const PoolTap* taps, size_t i) {
    T* const out = static_cast<T*>(row.out) + i * row.channels;
    ForParts(row.channels, [&](auto part, size_t c) {
      Vf value = Const(first);
      for (size_t k = 0; k < count; ++k) value = reduce(value, part.Load(x + taps[k].offset + c));
      part.Store(last(value, taps), out + c);
    });
  });
}

template <class T>
void Largest(const PoolRow& row) {
  ReduceTaps<T>(
      row, std::numeric_limits<float>::lowest(),
      [](Vf value, Vf v) { return hn::IfThenElse(hn::Lt(value, v), v, value); },
      [](Vf value, const PoolTap*) { return value; });
}

template <class T>
void Mean(const PoolRow& row) {
  ReduceTaps<T>(
      row, 0, [](Vf sum, Vf v) { return hn::Add(sum, v); },
      [](Vf sum, const PoolTap* taps) { return hn::Mul(sum, Const(taps[0].weight)); });
}

template <class T, bool kValues>
void MaximumOf(const PoolRow& row) {
  const T* const x = static_cast<const T*>(row.x);
  ForPositions(row, [&](auto count, const PoolTap* taps, size_t i) {
    const size_t at = i * row.channels;
    ForParts(row.channels, [&](auto part, size_t c) {
      Vf value = Const(std::numeric_limits<float>::lowest());
      Vf best = value;
      Vi place = hn::Zero(IntTag());
      for (size_t k = 0; k < count; ++k) {
        const Vf v = part.Load(x + taps[k].offset + c);
        if (kValues) value = hn::IfThenElse(hn::Lt(value, v), v, value);
        const Vi here = hn::Set(IntTag(), taps[k].index);
        const auto larger = hn::Lt(best, v);
        best = k == 0 ? v : hn::IfThenElse(larger, v, best);
        place = k == 0 ? here : hn::IfThenElse(hn::RebindMask(IntTag(), larger), here, place);
      }
      if (kValues) part.Store(value, static_cast<T*>(row.out) + at + c);
      StorePlaces(part, place, row.out_places + at + c);
    });
  });
}

template <class T>
void Maximum(const PoolRow& row) {
  row.out == nullptr ? MaximumOf<T, false>(row) : MaximumOf<T, true>(row);
}

// out = sum over taps of term(part, tap, element of the other side, element of the position)
template <class T, class Term>
HWY_INLINE void Gather(const PoolRow& row, Term term) {
  ForPositions(row, [&](auto count, const PoolTap* taps, size_t i) {
    const size_t at = i * row.channels;
    ForParts(row.channels, [&](auto part, size_t c) {
      Vf sum = hn::Zero(FloatTag());
      for (size_t k = 0; k < count; ++k) {
        const size_t from = static_cast<size_t>(taps[k].offset) + c;
        sum = hn::Add(sum, term(part, taps[k], from, at + c));
      }
      part.Store(sum, static_cast<T*>(row.out) + at + c);
    });
  });
}

template <class T>
void Route(const PoolRow& row) {
  const T* const dy = static_cast<const T*>(row.dy);
  Gather<T>(row, [&](auto part, const PoolTap& tap, size_t from, size_t) {
    const auto here = hn::Eq(LoadPlaces(part, row.places + from), hn::Set(IntTag(), tap.index));
    return hn::IfThenElseZero(hn::RebindMask(FloatTag(), here), part.Load(dy + from));
  });
}

template <class T>
void RouteTies(const PoolRow& row) {
  const T* const dy = static_cast<const T*>(row.dy);
  const T* const y = static_cast<const T*>(row.y);
  Gather<T>(row, [&](auto part, const PoolTap&, size_t from, size_t at) {
    const Vf x = part.Load(static_cast<const T*>(row.x) + at);
    const auto near = hn::Lt(hn::Abs(hn::Sub(x, part.Load(y + from))), Const(1e-5f));
    return hn::IfThenElseZero(near, part.Load(dy + from));
  });
}

template <class T>
void Average(const PoolRow& row) {
  const T* const dy = static_cast<const T*>(row.dy);
  Gather<T>(row, [&](auto part, const PoolTap& tap, size_t from, size_t) {
    return hn::Mul(part.Load(dy + from), Const(tap.weight));
  });
}

template <class T>
PoolLoops LoopsOf() {
  return {Largest<T>, Mean<T>, Maximum<T>, Route<T>, RouteTies<T>, Average<T>};
}
PoolLoops LoopsFor(PoolElement element) {
  return element == PoolElement::kFloat ? LoopsOf<float>() : LoopsOf<uint16_t>();
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon {

HWY_EXPORT(LoopsFor);

PoolLoops FindPoolLoops(PoolElement element) { return HWY_DYNAMIC_DISPATCH(LoopsFor)(element); }

}  // namespace tenon
#endif
