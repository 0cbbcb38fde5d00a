// XlaReducePrecision: floats rounded to fewer bits of exponent and mantissa, to nearest even.
// Beyond the new exponents there is infinity, below them zero; NaN stays.
#include <bit>

#include "kernels/interface/parallel.h"
#include "kernels/interface/types.h"
#include "ops/op.h"

namespace tenon {
namespace {

// The bits of a floating-point type: sign, exponent, mantissa.
template <typename T>
struct Layout {
  using Bits = std::conditional_t<sizeof(T) == 2, uint16_t,
                                  std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;
  static constexpr int kMantissa = std::is_same_v<T, half>       ? 10
                                   : std::is_same_v<T, bfloat16> ? 7
                                   : std::is_same_v<T, float>    ? 23
                                                                 : 52;
  static constexpr int kExponent = static_cast<int>(8 * sizeof(T)) - 1 - kMantissa;
  static constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(T) - 1));
  static constexpr Bits kInfinity = static_cast<Bits>(((Bits{1} << kExponent) - 1) << kMantissa);
};

template <typename T>
T Reduced(T x, int exponent, int mantissa) {
  using L = Layout<T>;
  using Bits = typename L::Bits;
  const Bits bits = std::bit_cast<Bits>(x);
  const Bits sign = bits & L::kSign;
  Bits size = static_cast<Bits>(bits & static_cast<Bits>(~L::kSign));
  if (size > L::kInfinity) return x;  // NaN
  if (mantissa < L::kMantissa) {
    const int dropped = L::kMantissa - mantissa;
    const Bits last = static_cast<Bits>((size >> dropped) & 1);
    size = static_cast<Bits>(size + ((Bits{1} << (dropped - 1)) - 1) + last);
    size = static_cast<Bits>(size & ~((Bits{1} << dropped) - 1));
  }
  if (exponent < L::kExponent) {
    const Bits bias = static_cast<Bits>((Bits{1} << (L::kExponent - 1)) - 1);
    const Bits reduced = static_cast<Bits>((Bits{1} << (exponent - 1)) - 1);
    const Bits field = static_cast<Bits>(size >> L::kMantissa);
    if (field > bias + reduced) size = L::kInfinity;
    if (field <= bias - reduced) size = 0;
  }
  return std::bit_cast<T>(static_cast<Bits>(size | sign));
}

absl::StatusOr<std::unique_ptr<Kernel>> ReducePrecision(PrepareContext& p) {
  TENON_ASSIGN_OR_RETURN(const int64_t exponent, p.attrs().Int("exponent_bits"));
  TENON_ASSIGN_OR_RETURN(const int64_t mantissa, p.attrs().Int("mantissa_bits"));
  if (exponent < 1 || mantissa < 0) {
    return InvalidArgument("exponent_bits ", exponent, " and mantissa_bits ", mantissa);
  }
  const int e = static_cast<int>(std::min<int64_t>(exponent, 64));
  const int m = static_cast<int>(std::min<int64_t>(mantissa, 64));
  const int64_t n = p.output_shape(0).num_elements();
  const int threads = p.services().threads;
  p.AllowInPlace(0, 0);
  return DispatchType(Floats{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      const T* const x = run.input<T>(0);
      T* const y = run.output<T>(0);
      ParallelFor(threads, n, ParallelGrain(1), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) y[i] = Reduced(x[i], e, m);
      });
      return absl::OkStatus();
    });
  });
}

const OpRegistration reduce_precision({
    .name = "XlaReducePrecision",
    .inputs = "operand: T",
    .outputs = "output: T",
    .attrs = "T: type; exponent_bits: int; mantissa_bits: int",
    .types = "T: bfloat16 half float double",
    .shape = UnchangedShape,
    .reference = ReducePrecision,
    .elementwise = true,
    .discontinuous = true,
    .error_bound = ErrorBound::kExact,
});

}  // namespace
}  // namespace tenon
