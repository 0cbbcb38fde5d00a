#include "kernels/quantized/dequantize.h"

#include <Eigen/Core>
#include <algorithm>

#include "env/status.h"
#include "kernels/elementwise/quantize_simd.h"
#include "kernels/interface/parallel.h"
#include "kernels/quantized/quantized_types.h"
#include "kernels/quantized/range_inputs.h"

namespace tenon {
namespace {

// y = (x + half) * scale + offset, except for MIN_FIRST.
template <typename T>
DequantizeMap LinearMap(const DequantizeAttrs& a, FloatRange range) {
  const auto low = static_cast<float>(static_cast<int32_t>(kLowest<T>) + a.narrow_range);
  const auto high = static_cast<float>(kHighest<T>);
  if (a.mode == RangeMode::kScaled) {
    return {0, std::is_signed_v<T> ? std::max(range.min / low, range.max / high) : range.max / high,
            0};
  }
  constexpr auto kSpan = static_cast<float>(kHighest<T>) - static_cast<float>(kLowest<T>);
  return {std::is_signed_v<T> ? (kSpan + 1) / 2.0f : 0.0f, (range.max - range.min) / kSpan,
          range.min};
}

template <typename T, typename F>
void DequantizeSlice(const DequantizeAttrs& a, FloatRange range, DequantizeFn vector, const T* x,
                     F* y, int64_t n) {
  if (a.mode == RangeMode::kMinFirst) {
    const Dequantizer<T> dequantize(range);
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<F>(dequantize(x[i]));
    return;
  }
  const DequantizeMap map = LinearMap<T>(a, range);
  if constexpr (std::is_same_v<F, float>) {
    if (vector != nullptr) return vector(map, x, y, static_cast<size_t>(n));
  }
  for (int64_t i = 0; i < n; ++i) {
    y[i] = static_cast<F>((static_cast<float>(x[i]) + map.half) * map.scale + map.offset);
  }
}

template <typename T, typename F>
void RunDequantize(const DequantizeAttrs& a, const Slices& s, DequantizeFn vector, int threads,
                   RunContext& r) {
  const T* x = r.input<T>(0);
  F* y = r.output<F>(0);
  for (int64_t k = 0; k < s.count; ++k) {
    const FloatRange range{r.input<float>(1)[k], r.input<float>(2)[k]};
    for (int64_t o = 0; o < s.outer; ++o) {
      const int64_t first = (o * s.count + k) * s.inner;
      ParallelFor(
          threads, s.inner, ParallelGrain(vector ? 0.2 : 1), [&](int64_t begin, int64_t end) {
            DequantizeSlice(a, range, vector, x + first + begin, y + first + begin, end - begin);
          });
    }
  }
}

absl::StatusOr<std::unique_ptr<Kernel>> MakeDequantize(PrepareContext& p, DequantizeFn vector,
                                                       const char* implementation) {
  TENON_ASSIGN_OR_RETURN(const DequantizeAttrs a, ReadDequantizeAttrs(p.attrs()));
  const DType from = p.input_dtype(0), to = p.output_dtype(0);
  const Slices s = SlicesOf(p.input_shape(0), a.axis);
  if (to == DType::kBfloat16 && a.mode != RangeMode::kMinCombined) {
    return InvalidArgument("bfloat16 results require mode MIN_COMBINED");
  }
  if (a.mode == RangeMode::kMinFirst && s.count > 1) {
    return InvalidArgument("mode MIN_FIRST does not support an axis");
  }
  const int threads = p.services().threads;
  return MakeKernel(
      [=](RunContext& r) -> absl::Status {
        const bool known = VisitQuantized(from, [&]<typename T>() {
          if (to == DType::kBfloat16) {
            RunDequantize<T, bfloat16>(a, s, nullptr, threads, r);
          } else {
            RunDequantize<T, float>(a, s, vector, threads, r);
          }
        });
        return known ? absl::OkStatus() : NotQuantized(from);
      },
      implementation);
}

}  // namespace

absl::StatusOr<DequantizeAttrs> ReadDequantizeAttrs(const AttrReader& attrs) {
  DequantizeAttrs a;
  TENON_ASSIGN_OR_RETURN(a.mode, ReadRangeMode(attrs));
  a.narrow_range = attrs.Bool("narrow_range", false);
  a.axis = attrs.Int("axis", -1);
  return a;
}

absl::StatusOr<std::unique_ptr<Kernel>> DequantizeReference(PrepareContext& p) {
  return MakeDequantize(p, nullptr, "reference");
}

absl::StatusOr<std::unique_ptr<Kernel>> DequantizeVector(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const DequantizeAttrs a, ReadDequantizeAttrs(p.attrs()));
  const DType dtype = p.input_dtype(0);
  if (a.mode == RangeMode::kMinFirst || SizeOf(dtype) != 1 || p.output_dtype(0) != DType::kFloat) {
    return Unimplemented("not 8 bits to float");
  }
  return MakeDequantize(
      p, FindDequantize(dtype == DType::kQint8 ? EightBits::kSigned : EightBits::kUnsigned),
      "vector");
}

}  // namespace tenon
