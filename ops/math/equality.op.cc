// Equal, NotEqual, ApproximateEqual. With incompatible_shape_error = false, shapes that do not
// broadcast are not an error: the result is a single bool.
#include <cmath>
#include <limits>

#include "kernels/elementwise/reference.h"
#include "kernels/interface/parallel.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr auto kEqual = [](auto a, auto b) { return a == b; };
constexpr auto kNotEqual = [](auto a, auto b) { return a != b; };

absl::Status EqualityShape(ShapeContext& c) {
  absl::StatusOr<Shape> out = BroadcastShapes(c.input(0), c.input(1));
  if (c.attrs().Bool("incompatible_shape_error", true)) {
    TENON_RETURN_IF_ERROR(out.status());
    c.set_output(0, *std::move(out));
  } else if (!out.ok()) {
    c.set_output(0, Shape());
  } else if (c.input(0).IsComplete() && c.input(1).IsComplete()) {
    c.set_output(0, *std::move(out));
  }  // otherwise they may still turn out incompatible
  return absl::OkStatus();
}

template <auto op, bool answer_if_incompatible>
absl::StatusOr<std::unique_ptr<Kernel>> Equality(PrepareContext& p) {
  if (!BroadcastShapes(p.input_shape(0), p.input_shape(1)).ok()) {
    return MakeKernel([](RunContext& run) {
      *run.output<bool>(0) = answer_if_incompatible;
      return absl::OkStatus();
    });
  }
  if (!IsQuantized(p.input_dtype(0))) return Binary<op, AllTypes>(p);
  // Quantized numbers of one dtype are equal if their integers are.
  BinaryLoop loop = nullptr;
  VisitStorage(p.input_dtype(0), [&]<typename T>() { loop = &elementwise::BinaryLoopOf<op, T>; });
  return MakeBinaryKernel(p, loop, SizeOf(p.input_dtype(0)) == sizeof(bool));
}

const OpRegistration equal({
    .name = "Equal",
    .inputs = "x: T, y: T",
    .outputs = "z: bool",
    .attrs = "T: type; incompatible_shape_error: bool = true",
    .shape = EqualityShape,
    .reference = Equality<kEqual, false>,
    .commutative = true,
    .elementwise = true,
    .discontinuous = true,
});

const OpRegistration not_equal({
    .name = "NotEqual",
    .inputs = "x: T, y: T",
    .outputs = "z: bool",
    .attrs = "T: type; incompatible_shape_error: bool = true",
    .shape = EqualityShape,
    .reference = Equality<kNotEqual, true>,
    .commutative = true,
    .elementwise = true,
    .discontinuous = true,
});

absl::Status SameShapes(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(Shape out, MergeShapes(c.input(0), c.input(1)));
  c.set_output(0, std::move(out));
  return absl::OkStatus();
}

// The tolerance in an integer dtype, 0 if it is negative or NaN. (TensorFlow converts it, which is
// undefined if it is negative or too large.)
template <typename T>
T WholeTolerance(float tolerance) {
  if (!(tolerance >= 0)) return 0;
  if (tolerance >= std::ldexp(1.0f, std::numeric_limits<T>::digits)) {
    return std::numeric_limits<T>::max();
  }
  return static_cast<T>(tolerance);
}

// Results are bytes: loops over bool do not become vector code.
template <typename T>
void AreNear(const T* a, const T* b, float tolerance, int64_t n, uint8_t* __restrict out) {
  if constexpr (kIsInt<T>) {
    const T most = WholeTolerance<T>(tolerance);
    const bool possible = tolerance >= 0;
    for (int64_t i = 0; i < n; ++i) {
      const T d = a[i] > b[i] ? WrapSub(a[i], b[i]) : WrapSub(b[i], a[i]);
      out[i] = possible & (d <= most);
    }
  } else {
    for (int64_t i = 0; i < n; ++i) {
      out[i] = std::abs(ToCompute(a[i]) - ToCompute(b[i])) <= tolerance;
    }
  }
}

absl::StatusOr<std::unique_ptr<Kernel>> ApproximateEqual(PrepareContext& p) {
  const float tolerance = p.attrs().Float("tolerance", 1e-5f);
  const int64_t n = p.input_shape(0).num_elements();
  const int threads = p.services().threads;
  return DispatchType(Numbers{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([=](RunContext& run) {
      const T* const a = run.input<T>(0);
      const T* const b = run.input<T>(1);
      auto* const out = static_cast<uint8_t*>(run.output(0));
      ParallelFor(threads, n, ParallelGrain(0.3), [&](int64_t begin, int64_t end) {
        AreNear(a + begin, b + begin, tolerance, end - begin, out + begin);
      });
      return absl::OkStatus();
    });
  });
}

const OpRegistration approximate_equal({
    .name = "ApproximateEqual",
    .inputs = "x: T, y: T",
    .outputs = "z: bool",
    .attrs = "T: type; tolerance: float = 1e-5",
    .types = "T: float double int32 uint8 int16 int8 complex64 int64 bfloat16 uint16 complex128 "
             "half uint32 uint64",
    .shape = SameShapes,
    .reference = ApproximateEqual,
    .commutative = true,
    .elementwise = true,
    .discontinuous = true,
});

}  // namespace
}  // namespace tenon
