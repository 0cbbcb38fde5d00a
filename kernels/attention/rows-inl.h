// Rows of numbers copied to float, and bounds of masks, for the target being compiled. Elements are
// float, or bfloat16 bits in uint16_t.
#if defined(TENON_KERNELS_ATTENTION_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNELS_ATTENTION_ROWS_INL_H_
#undef TENON_KERNELS_ATTENTION_ROWS_INL_H_
#else
#define TENON_KERNELS_ATTENTION_ROWS_INL_H_
#endif

#include <algorithm>
#include <cstring>
#include <limits>

#include "env/round_up.h"
#include "hwy/highway.h"
#include "kernels/attention/attention_simd.h"
#include "kernels/simd/math-inl.h"
#include "kernels/simd/part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon {
namespace HWY_NAMESPACE {

// Where things are in a task's scratch, in floats.
struct ScratchLayout {
  size_t end = 0;

  size_t Take(size_t floats) {
    const size_t at = end;
    end += RoundUp(floats, 16);
    return at;
  }
};

// to[c * to_stride + r] = from[r * from_stride + c]
HWY_INLINE void Transposed(const AttentionTask& task, const float* from, size_t from_stride,
                           float* to, size_t to_stride, size_t rows, size_t columns) {
  static_assert(sizeof(float) == sizeof(uint32_t));
  task.transpose(reinterpret_cast<const uint32_t*>(from), static_cast<int64_t>(from_stride),
                 reinterpret_cast<uint32_t*>(to), static_cast<int64_t>(to_stride),
                 static_cast<int64_t>(rows), static_cast<int64_t>(columns));
}

HWY_INLINE float ToFloat(float v) { return v; }
HWY_INLINE float ToFloat(uint16_t bits) {
  const uint32_t wide = uint32_t{bits} << 16;
  float v;
  std::memcpy(&v, &wide, sizeof v);
  return v;
}

// to[i] = from[i * stride] * factor
template <class T>
HWY_INLINE void CopyRow(const T* from, int64_t stride, float factor, float* to, size_t n) {
  if (stride != 1) {
    for (size_t i = 0; i < n; ++i) {
      to[i] = ToFloat(from[static_cast<int64_t>(i) * stride]) * factor;
    }
    return;
  }
  const Vf scale = Const(factor);
  ForParts(n,
           [&](auto part, size_t i) { part.Store(hn::Mul(part.Load(from + i), scale), to + i); });
}

template <class T>
HWY_INLINE double Square(const T* from, int64_t stride, size_t n) {
  if (stride != 1) {
    double sum = 0;
    for (size_t i = 0; i < n; ++i) {
      const float v = ToFloat(from[static_cast<int64_t>(i) * stride]);
      sum += double{v} * double{v};
    }
    return sum;
  }
  Vf sum = hn::Zero(FloatTag());
  ForParts(n, [&](auto part, size_t i) {
    const Vf v = part.Load(from + i);
    sum = hn::MulAdd(v, v, sum);
  });
  return Total(sum);
}

HWY_INLINE void StoreRow(const float* from, size_t n, float* out, int64_t stride) {
  if (stride == 1) {
    std::copy_n(from, n, out);
    return;
  }
  for (size_t i = 0; i < n; ++i) out[static_cast<int64_t>(i) * stride] = from[i];
}
HWY_INLINE void StoreRow(const float* from, size_t n, uint16_t* out, int64_t stride) {
  const auto store = [&](auto part, size_t i) { part.Store(part.Load(from + i), out + i); };
  if (stride == 1) return ForParts(n, store);
  for (size_t i = 0; i < n; ++i) {
    RestPart{1}.Store(Const(from[i]), out + static_cast<int64_t>(i) * stride);
  }
}

// Everything if one of them is NaN.
HWY_INLINE void Bounds(const float* values, size_t n, float& low, float& high) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  low = std::numeric_limits<float>::infinity();
  high = -low;
  bool nan = false;
  size_t i = 0;
  if (n >= lanes) {
    Vf least = Infinity(), most = hn::Neg(Infinity());
    auto bad = hn::IsNaN(hn::Zero(d));
    for (; i + lanes <= n; i += lanes) {
      const Vf v = hn::LoadU(d, values + i);
      least = hn::Min(least, v);
      most = hn::Max(most, v);
      bad = hn::Or(bad, hn::IsNaN(v));
    }
    nan = !hn::AllFalse(d, bad);
    low = hn::GetLane(hn::MinOfLanes(d, least));
    high = hn::GetLane(hn::MaxOfLanes(d, most));
  }
  for (; i < n; ++i) {
    low = std::min(low, values[i]);
    high = std::max(high, values[i]);
    nan = nan || values[i] != values[i];
  }
  if (nan) {
    high = std::numeric_limits<float>::infinity();
    low = -high;
  }
}

// Calls each(f), f(x, mask) being what the step makes of scores x. Conditions are 1 and 0 in mask.
template <class Each>
HWY_INLINE void VisitStep(const AttentionStep& step, Each each) {
  using Kind = AttentionStep::Kind;
  const Vf value = Const(step.value);
  const auto chosen = [value](Vf mask, Vf x, bool kept) {
    const auto hidden = hn::Eq(mask, hn::Zero(FloatTag()));
    return kept ? hn::IfThenElse(hidden, value, x) : hn::IfThenElse(hidden, x, value);
  };
  switch (step.kind) {
    case Kind::kAdd:
      return each([](Vf x, Vf mask) { return hn::Add(x, mask); });
    case Kind::kSubtract:
      return each([](Vf x, Vf mask) { return hn::Sub(x, mask); });
    case Kind::kMultiply:
      return each([](Vf x, Vf mask) { return hn::Mul(x, mask); });
    case Kind::kSelect:
      return each([chosen](Vf x, Vf mask) { return chosen(mask, x, true); });
    case Kind::kSelectNot:
      return each([chosen](Vf x, Vf mask) { return chosen(mask, x, false); });
    case Kind::kScale:
      return each([value](Vf x, Vf) { return hn::Mul(x, value); });
    case Kind::kTanh:
      return each([](Vf x, Vf) { return Tanh(x); });
  }
}

// A mask along the keys as floats, conditions as 1 and 0.
template <class T>
HWY_INLINE void CopyMaskRow(const AttentionStep& step, const void* input, int64_t origin,
                            int64_t stride, float* to, size_t n) {
  if (!step.selects()) return CopyRow(static_cast<const T*>(input) + origin, stride, 1, to, n);
  const uint8_t* from = static_cast<const uint8_t*>(input) + origin;
  for (size_t k = 0; k < n; ++k) {
    to[k] = from[static_cast<int64_t>(k) * stride] != 0 ? 1.0f : 0.0f;
  }
}

// Bounds of the scores after a step, whose mask (a condition as 0 and 1) is within its own.
HWY_INLINE void StepBounds(const AttentionStep& step, float mask_low, float mask_high, float& low,
                           float& high) {
  using Kind = AttentionStep::Kind;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto scaled = [&](float a, float b) {
    const float products[] = {low * a, low * b, high * a, high * b};
    low = kInfinity;
    high = -kInfinity;
    for (float x : products) {
      low = std::min(low, x == x ? x : -kInfinity);
      high = std::max(high, x == x ? x : kInfinity);
    }
  };
  switch (step.kind) {
    case Kind::kAdd:
    case Kind::kSubtract: {
      const float least = step.kind == Kind::kAdd ? mask_low : -mask_high;
      const float most = step.kind == Kind::kAdd ? mask_high : -mask_low;
      // Whatever the scores, unless they are infinite: then there would be NaN.
      low = least == -kInfinity ? least : low + least;
      high = most == -kInfinity ? most : high + most;
      break;
    }
    case Kind::kMultiply:
      if (mask_low == 0 && mask_high == 0) {
        low = high = 0;
      } else {
        scaled(mask_low, mask_high);
      }
      break;
    case Kind::kSelect:
    case Kind::kSelectNot: {
      const float kept = step.kind == Kind::kSelect ? 1 : 0;
      if (mask_low == mask_high && mask_low == kept) break;
      const bool none = mask_low == mask_high;
      low = none ? step.value : std::min(low, step.value);
      high = none ? step.value : std::max(high, step.value);
      break;
    }
    case Kind::kScale:
      scaled(step.value, step.value);
      break;
    case Kind::kTanh:
      low = std::max(low, -1.0f);
      high = std::min(high, 1.0f);
      break;
  }
  if (!(low <= high)) {
    low = -kInfinity;
    high = kInfinity;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tenon
HWY_AFTER_NAMESPACE();

#endif  // per target
