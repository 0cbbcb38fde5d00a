// QuantizeAndDequantize (V1 to V4): floats rounded to what `num_bits` integers can say, and back.
// V4Grad passes gradients where the input lies in the range.
#include <cmath>
#include <vector>

#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "kernels/quantized/range_inputs.h"
#include "kernels/quantized/round_trip.h"
#include "ops/op.h"
#include "ops/quant/range_shape.h"

namespace tenon {
namespace {

struct RoundTripAttrs {
  bool signed_input = true;
  bool range_given = false;
  bool narrow_range = false;
  bool half_up = false;
  int64_t axis = -1;
};

absl::StatusOr<RoundTripAttrs> ReadAttrs(const AttrReader& attrs) {
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

absl::Status CheckBits(int64_t bits, bool signed_input) {
  if (bits > 0 && bits < (signed_input ? 62 : 63)) return absl::OkStatus();
  return InvalidArgument("num_bits is out of range: ", bits);
}

absl::Status RoundTripShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const RoundTripAttrs a, ReadAttrs(c.attrs()));
  if (c.num_inputs() >= 3) TENON_RETURN_IF_ERROR(CheckAxisRanges(c, a.axis, 0, {1, 2}));
  if (c.num_inputs() == 4) TENON_RETURN_IF_ERROR(c.ExpectRank(3, 0));
  c.set_output(0, c.input(0));
  return absl::OkStatus();
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

absl::StatusOr<std::unique_ptr<Kernel>> RoundTrip(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const RoundTripAttrs a, ReadAttrs(p.attrs()));
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

absl::Status GradShape(ShapeContext& c) {
  const int64_t axis = c.attrs().Int("axis", -1);
  TENON_RETURN_IF_ERROR(CheckAxisRanges(c, axis, 1, {2, 3}));
  TENON_ASSIGN_OR_RETURN(Shape both, MergeShapes(c.input(0), c.input(1)));
  TENON_ASSIGN_OR_RETURN(Shape range, MergeShapes(c.input(2), c.input(3)));
  c.set_output(0, std::move(both));
  c.set_output(1, range);
  c.set_output(2, range);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Kernel>> Grad(PrepareContext& p) {
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

constexpr char kTypes[] = "T: bfloat16 half float double";
constexpr char kV2Attrs[] =
    "signed_input: bool = true; num_bits: int = 8; range_given: bool = false; T: type; "
    "round_mode: string = HALF_TO_EVEN; narrow_range: bool = false; axis: int = -1";

const OpRegistration v1({
    .name = "QuantizeAndDequantize",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "signed_input: bool = true; num_bits: int = 8; range_given: bool = false; "
             "input_min: float = 0; input_max: float = 0; T: type",
    .types = kTypes,
    .shape = RoundTripShape,
    .reference = RoundTrip,
});
const OpRegistration v2({
    .name = "QuantizeAndDequantizeV2",
    .inputs = "input: T, input_min: T, input_max: T",
    .outputs = "output: T",
    .attrs = kV2Attrs,
    .types = kTypes,
    .shape = RoundTripShape,
    .reference = RoundTrip,
});
const OpRegistration v3({
    .name = "QuantizeAndDequantizeV3",
    .inputs = "input: T, input_min: T, input_max: T, num_bits: int32",
    .outputs = "output: T",
    .attrs = "signed_input: bool = true; range_given: bool = true; T: type; "
             "narrow_range: bool = false; axis: int = -1",
    .types = kTypes,
    .shape = RoundTripShape,
    .reference = RoundTrip,
});
const OpRegistration v4({
    .name = "QuantizeAndDequantizeV4",
    .inputs = "input: T, input_min: T, input_max: T",
    .outputs = "output: T",
    .attrs = kV2Attrs,
    .types = kTypes,
    .shape = RoundTripShape,
    .reference = RoundTrip,
});
const OpRegistration v4_grad({
    .name = "QuantizeAndDequantizeV4Grad",
    .inputs = "gradients: T, input: T, input_min: T, input_max: T",
    .outputs = "input_backprop: T, input_min_backprop: T, input_max_backprop: T",
    .attrs = "T: type; axis: int = -1",
    .types = kTypes,
    .shape = GradShape,
    .reference = Grad,
});

}  // namespace
}  // namespace tenon
