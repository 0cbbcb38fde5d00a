#include "kernels/quantized/quantize.h"

#include <algorithm>
#include <cmath>

#include "env/status.h"
#include "kernels/elementwise/quantize_simd.h"
#include "kernels/interface/parallel.h"
#include "kernels/quantized/quantized_types.h"
#include "kernels/quantized/range_inputs.h"

namespace tenon {
namespace {

// One slice's mapping, and its actual range.
template <typename T>
struct Mapping {
  FloatRange range;
  float scale = 0;

  Mapping(const QuantizeAttrs& a, FloatRange given) {
    range.min = std::min(0.0f, given.min);
    const float epsilon =
        std::max(1.0f, std::max(std::fabs(given.min), std::fabs(given.max))) * a.minimum_range;
    range.max = std::max(0.0f, std::max(given.max, range.min + epsilon));
    if (a.mode == RangeMode::kMinCombined) {
      scale = static_cast<float>(kSteps<T> / static_cast<double>(range.max - range.min));
    } else if (a.mode == RangeMode::kScaled) {
      const auto low = static_cast<float>(static_cast<int32_t>(kLowest<T>) + a.narrow_range);
      const auto high = static_cast<float>(kHighest<T>);
      constexpr float kNone = std::numeric_limits<float>::max();
      const float from_min = low * range.min > 0 ? low / range.min : kNone;
      const float from_max = high * range.max > 0 ? high / range.max : kNone;
      scale = std::min(from_min, from_max);
      range = {low / scale, high / scale};
    }
  }

  // The same mapping for the vector loop. Not for mode MIN_FIRST.
  QuantizeMap VectorMap(const QuantizeAttrs& a) const {
    using Round = QuantizeMap::Round;
    QuantizeMap map{range.min, range.max, scale};
    if (a.mode == RangeMode::kScaled) {
      map.round = a.half_to_even ? Round::kHalfToEven : Round::kHalfAway;
    } else {
      map.origin = range.min;
      map.zero = std::is_signed_v<T> ? -128.0f : 0.5f;
      map.round = std::is_signed_v<T> ? Round::kHalfAway : Round::kDown;
    }
    return map;
  }

  // `vector`: the loop that does the same for 8 bits, or null.
  void Run(const QuantizeAttrs& a, QuantizeFn vector, const float* x, T* y, int64_t n) const {
    const auto [low, high] = range;
    if (vector != nullptr) {
      vector(VectorMap(a), x, y, static_cast<size_t>(n));
      return;
    }
    if (a.mode == RangeMode::kMinFirst) {
      const Quantizer<T> quantize(range);
      for (int64_t i = 0; i < n; ++i) y[i] = quantize(x[i]);
    } else if (a.mode == RangeMode::kScaled) {
      if (a.half_to_even) {
        for (int64_t i = 0; i < n; ++i) {
          y[i] = TruncateTo<T>(std::nearbyint(Clamp(x[i], low, high) * scale));
        }
      } else {
        for (int64_t i = 0; i < n; ++i) {
          y[i] = TruncateTo<T>(std::round(Clamp(x[i], low, high) * scale));
        }
      }
    } else if (std::is_signed_v<T>) {
      constexpr auto kHalf = static_cast<float>((kSteps<T> + 1) / 2);
      for (int64_t i = 0; i < n; ++i) {
        y[i] = TruncateTo<T>(std::round((Clamp(x[i], low, high) - low) * scale - kHalf));
      }
    } else {
      for (int64_t i = 0; i < n; ++i) {
        y[i] = TruncateTo<T>((Clamp(x[i], low, high) - low) * scale + 0.5f);
      }
    }
  }
};

template <typename T>
absl::Status RunQuantize(const QuantizeAttrs& a, const Slices& s, QuantizeFn vector, int threads,
                         RunContext& r) {
  const float* x = r.input<float>(0);
  T* y = r.output<T>(0);
  for (int64_t k = 0; k < s.count; ++k) {
    const FloatRange given{r.input<float>(1)[k], r.input<float>(2)[k]};
    if (given.max < given.min) {
      return InvalidArgument("max_range ", given.max, " is below min_range ", given.min);
    }
    const Mapping<T> map(a, given);
    r.output<float>(1)[k] = map.range.min;
    r.output<float>(2)[k] = map.range.max;
    for (int64_t o = 0; o < s.outer; ++o) {
      const int64_t first = (o * s.count + k) * s.inner;
      ParallelFor(threads, s.inner, ParallelGrain(vector ? 0.3 : 4),
                  [&](int64_t begin, int64_t end) {
                    map.Run(a, vector, x + first + begin, y + first + begin, end - begin);
                  });
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> MakeQuantize(PrepareContext& p, QuantizeFn vector,
                                                     const char* implementation) {
  TENON_ASSIGN_OR_RETURN(const QuantizeAttrs a, ReadQuantizeAttrs(p.attrs()));
  const Slices s = SlicesOf(p.input_shape(0), a.axis);
  const DType dtype = p.output_dtype(0);
  const int threads = p.services().threads;
  return MakeKernel(
      [=](RunContext& r) -> absl::Status {
        absl::Status status;
        const bool known = VisitQuantized(
            dtype, [&]<typename T>() { status = RunQuantize<T>(a, s, vector, threads, r); });
        return known ? status : NotQuantized(dtype);
      },
      implementation);
}

}  // namespace

absl::StatusOr<QuantizeAttrs> ReadQuantizeAttrs(const AttrReader& attrs) {
  QuantizeAttrs a;
  TENON_ASSIGN_OR_RETURN(a.mode, ReadRangeMode(attrs));
  const std::string round = attrs.String("round_mode", "HALF_AWAY_FROM_ZERO");
  if (round == "HALF_TO_EVEN") {
    if (a.mode != RangeMode::kScaled) {
      return InvalidArgument("round_mode HALF_TO_EVEN goes with mode SCALED only");
    }
    a.half_to_even = true;
  } else if (round != "HALF_AWAY_FROM_ZERO") {
    return InvalidArgument("round_mode must be HALF_AWAY_FROM_ZERO or HALF_TO_EVEN, is ", round);
  }
  a.narrow_range = attrs.Bool("narrow_range", false);
  a.axis = attrs.Int("axis", -1);
  a.minimum_range = attrs.Float("ensure_minimum_range", 0.01f);
  return a;
}

absl::StatusOr<std::unique_ptr<Kernel>> QuantizeReference(PrepareContext& p) {
  return MakeQuantize(p, nullptr, "reference");
}

absl::StatusOr<std::unique_ptr<Kernel>> QuantizeVector(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const QuantizeAttrs a, ReadQuantizeAttrs(p.attrs()));
  const DType dtype = p.output_dtype(0);
  if (a.mode == RangeMode::kMinFirst || SizeOf(dtype) != 1) {
    return Unimplemented("not 8 bits, or MIN_FIRST");
  }
  return MakeQuantize(
      p, FindQuantize(dtype == DType::kQint8 ? EightBits::kSigned : EightBits::kUnsigned),
      "vector");
}

}  // namespace tenon
