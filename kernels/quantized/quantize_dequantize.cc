#include "kernels/quantized/quantize_dequantize.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "env/status.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "kernels/quantized/quantized_simd.h"
#include "kernels/quantized/range_inputs.h"
#include "kernels/quantized/round_trip.h"

namespace tenon {
namespace {

absl::Status CheckBits(int64_t bits, bool signed_input) {
  if (bits > 0 && bits < (signed_input ? 62 : 63)) return absl::OkStatus();
  return InvalidArgument("num_bits is out of range: ", bits);
}

template <typename T>
RoundTripMap<T> MapOf(const RoundTripAttrs& a, int64_t bits, Extremes<T> range) {
  const RoundTripSteps<T> steps({a.signed_input, a.narrow_range, bits}, range.low, range.high);
  return {a.range_given, a.half_up, steps.min, steps.max, steps.scale, steps.inverse};
}

template <typename T>
Extremes<T> ExtremesOf(const T* x, int64_t n, int threads) {
  const ExtremesFn<T> find = FindExtremes<T>();
  const Extremes<T> none{std::numeric_limits<T>::max(), std::numeric_limits<T>::lowest()};
  const int64_t grain = ParallelGrain(0.2);
  std::vector<Extremes<T>> parts(static_cast<size_t>(ParallelRanges(threads, n, grain)), none);
  ParallelForRanges(threads, n, grain, [&](int range, int64_t begin, int64_t end) {
    parts[static_cast<size_t>(range)] = find(x + begin, static_cast<size_t>(end - begin), none);
  });
  Extremes<T> all = none;
  for (const Extremes<T>& part : parts) {
    all = {std::min(all.low, part.low), std::max(all.high, part.high)};
  }
  return all;
}

// Slices along the last axis.
template <typename T>
void RunColumns(const RoundTripAttrs& a, int64_t bits, const Slices& s, const T* low, const T* high,
                int threads, const T* x, T* y) {
  const auto count = static_cast<size_t>(s.count);
  std::vector<T> lows(count, std::numeric_limits<T>::max());
  std::vector<T> highs(count, std::numeric_limits<T>::lowest());
  if (a.range_given) {
    lows.assign(low, low + count);
    highs.assign(high, high + count);
  } else {
    for (int64_t o = 0; o < s.outer; ++o) {
      const T* const row = x + o * s.count;
      for (size_t k = 0; k < count; ++k) lows[k] = row[k] < lows[k] ? row[k] : lows[k];
      for (size_t k = 0; k < count; ++k) highs[k] = highs[k] < row[k] ? row[k] : highs[k];
    }
  }
  std::vector<T> scales(count), inverses(count);
  for (size_t k = 0; k < count; ++k) {
    const RoundTripMap<T> map = MapOf<T>(a, bits, {lows[k], highs[k]});
    lows[k] = map.min;
    highs[k] = map.max;
    scales[k] = map.scale;
    inverses[k] = map.inverse;
  }
  const RoundTripColumns<T> columns = {a.range_given, a.half_up,     lows.data(),
                                       highs.data(),  scales.data(), inverses.data()};
  const RoundTripColumnsFn<T> round_trip = FindRoundTripColumns<T>();
  ParallelFor(threads, s.outer, ParallelGrain(0.3 * static_cast<double>(s.count)),
              [&](int64_t begin, int64_t end) {
                for (int64_t at = begin * s.count; at < end * s.count; at += s.count) {
                  round_trip(columns, x + at, y + at, count);
                }
              });
}

template <typename T>
absl::Status RunRoundTrip(const RoundTripAttrs& a, int64_t bits, const Slices& s, const T* low,
                          const T* high, int threads, RunContext& r) {
  const T* x = r.input<T>(0);
  T* y = r.output<T>(0);
  if (s.inner == 1 && s.count > 1) {
    RunColumns(a, bits, s, low, high, threads, x, y);
    return absl::OkStatus();
  }
  const ExtremesFn<T> find = FindExtremes<T>();
  const RoundTripFn<T> round_trip = FindRoundTrip<T>();
  for (int64_t k = 0; k < s.count; ++k) {
    Extremes<T> range{std::numeric_limits<T>::max(), std::numeric_limits<T>::lowest()};
    if (a.range_given) {
      range = {low[k], high[k]};
      if (a.axis < 0 && !(range.low <= range.high)) {
        return InvalidArgument("input_min ", range.low, " is not below input_max ", range.high);
      }
    } else if (s.count == 1) {
      range = ExtremesOf(x, s.outer * s.inner, threads);
    } else {
      for (int64_t o = 0; o < s.outer; ++o) {
        range = find(x + (o * s.count + k) * s.inner, static_cast<size_t>(s.inner), range);
      }
    }
    const RoundTripMap<T> map = MapOf(a, bits, range);
    for (int64_t o = 0; o < s.outer; ++o) {
      const int64_t first = (o * s.count + k) * s.inner;
      ParallelFor(threads, s.inner, ParallelGrain(0.2), [&](int64_t begin, int64_t end) {
        round_trip(map, x + first + begin, y + first + begin, static_cast<size_t>(end - begin));
      });
    }
  }
  return absl::OkStatus();
}

using RealTypes = TypeList<float, double>;

}  // namespace

absl::StatusOr<RoundTripAttrs> ReadRoundTripAttrs(const AttrReader& attrs) {
  RoundTripAttrs a;
  a.signed_input = attrs.Bool("signed_input", true);
  a.range_given = attrs.Bool("range_given", false);
  a.narrow_range = attrs.Bool("narrow_range", false);
  a.axis = attrs.Int("axis", -1);
  const std::string round = attrs.String("round_mode", "HALF_TO_EVEN");
  a.half_up = round == "HALF_UP";
  if (!a.half_up && round != "HALF_TO_EVEN") {
    return InvalidArgument("round_mode must be HALF_UP or HALF_TO_EVEN, is ", round);
  }
  return a;
}

absl::StatusOr<std::unique_ptr<Kernel>> QuantizeDequantizeKernel(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const RoundTripAttrs a, ReadRoundTripAttrs(p.attrs()));
  const bool bits_input = p.num_inputs() == 4, range_attrs = p.num_inputs() == 1;
  const int64_t fixed_bits = p.attrs().Int("num_bits", 8);
  if (!bits_input) TENON_RETURN_IF_ERROR(CheckBits(fixed_bits, a.signed_input));
  const float low = p.attrs().Float("input_min", 0), high = p.attrs().Float("input_max", 0);
  if (range_attrs && a.range_given && !(low <= high)) {
    return InvalidArgument("input_min ", low, " is not below input_max ", high);
  }
  const Slices s = SlicesOf(p.input_shape(0), a.axis);
  const DType dtype = p.output_dtype(0);
  const int threads = p.services().threads;
  return MakeKernel([=](RunContext& r) -> absl::Status {
    int64_t bits = fixed_bits;
    if (bits_input) {
      bits = r.input<int32_t>(3)[0];
      TENON_RETURN_IF_ERROR(CheckBits(bits, a.signed_input));
    }
    absl::Status status;
    const bool known = VisitTypes(RealTypes{}, dtype, [&]<typename T>() {
      const T attr_low = static_cast<T>(low), attr_high = static_cast<T>(high);
      status = RunRoundTrip<T>(a, bits, s, range_attrs ? &attr_low : r.input<T>(1),
                               range_attrs ? &attr_high : r.input<T>(2), threads, r);
    });
    return known ? status : NoKernelFor(dtype);
  });
}

absl::StatusOr<std::unique_ptr<Kernel>> QuantizeDequantizeGradKernel(PrepareContext& p) {
  const Slices s = SlicesOf(p.input_shape(1), p.attrs().Int("axis", -1));
  const DType dtype = p.output_dtype(0);
  return MakeKernel([s, dtype](RunContext& r) -> absl::Status {
    const bool known = VisitTypes(RealTypes{}, dtype, [&]<typename T>() {
      for (int64_t k = 0; k < s.count; ++k) {
        const T low = r.input<T>(2)[k], high = r.input<T>(3)[k];
        for (int64_t o = 0; o < s.outer; ++o) {
          const int64_t first = (o * s.count + k) * s.inner;
          const T* dy = r.input<T>(0) + first;
          const T* x = r.input<T>(1) + first;
          T* dx = r.output<T>(0) + first;
          for (int64_t i = 0; i < s.inner; ++i) {
            dx[i] = dy[i] * (x[i] >= low && x[i] <= high ? T(1) : T(0));
          }
        }
        r.output<T>(1)[k] = r.output<T>(2)[k] = 0;
      }
    });
    return known ? absl::OkStatus() : NoKernelFor(dtype);
  });
}

}  // namespace tenon
