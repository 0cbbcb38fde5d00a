#include "kernels/quantized/quantize_dequantize.h"

#include <algorithm>
#include <cmath>

#include "env/status.h"
#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "kernels/quantized/range_inputs.h"
#include "kernels/quantized/round_trip.h"

namespace tenon {
namespace {

absl::Status CheckBits(int64_t bits, bool signed_input) {
  if (bits > 0 && bits < (signed_input ? 62 : 63)) return absl::OkStatus();
  return InvalidArgument("num_bits is out of range: ", bits);
}

template <typename T>
struct Grid : RoundTripSteps<T> {
  using RoundTripSteps<T>::RoundTripSteps;

  void Run(const RoundTripAttrs& a, const T* x, T* y, int64_t n) const {
    for (int64_t i = 0; i < n; ++i) {
      T v = x[i];
      if (a.range_given) v = std::max(std::min(v, this->max), this->min);
      v *= this->scale;
      y[i] = (a.half_up ? std::floor(v + T(0.5)) : std::nearbyint(v)) * this->inverse;
    }
  }
};

template <typename T>
absl::Status RunRoundTrip(const RoundTripAttrs& a, int64_t bits, const Slices& s, const T* low,
                          const T* high, int threads, RunContext& r) {
  const T* x = r.input<T>(0);
  T* y = r.output<T>(0);
  for (int64_t k = 0; k < s.count; ++k) {
    T min = std::numeric_limits<T>::max(), max = std::numeric_limits<T>::lowest();
    if (a.range_given) {
      min = low[k];
      max = high[k];
      if (a.axis < 0 && !(min <= max)) {
        return InvalidArgument("input_min ", min, " is not below input_max ", max);
      }
    } else {
      for (int64_t o = 0; o < s.outer; ++o) {
        const T* slice = x + (o * s.count + k) * s.inner;
        for (int64_t i = 0; i < s.inner; ++i) {
          min = std::min(min, slice[i]);
          max = std::max(max, slice[i]);
        }
      }
    }
    const Grid<T> grid({a.signed_input, a.narrow_range, bits}, min, max);
    for (int64_t o = 0; o < s.outer; ++o) {
      const int64_t first = (o * s.count + k) * s.inner;
      ParallelFor(threads, s.inner, ParallelGrain(2), [&](int64_t begin, int64_t end) {
        grid.Run(a, x + first + begin, y + first + begin, end - begin);
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
