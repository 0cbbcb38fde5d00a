// Complex, Real, Imag, Conj, ComplexAbs, Angle.
#include <cmath>
#include <complex>
#include <type_traits>

#include "kernels/elementwise/reference.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr auto kReal = [](auto x) { return x.real(); };
constexpr auto kImag = [](auto x) { return x.imag(); };
constexpr auto kConj = [](auto x) { return std::conj(x); };
// Squares of floats fit a double: no scaling is needed.
constexpr auto kAbs = [](auto x) {
  if constexpr (std::is_same_v<decltype(x), complex64>) {
    const double re = x.real(), im = x.imag();
    const double square = re * re + im * im;
    // Infinity wins over NaN.
    return std::isnan(square) ? std::abs(x) : static_cast<float>(std::sqrt(square));
  } else {
    return std::abs(x);
  }
};
constexpr auto kAngle = [](auto x) { return std::arg(x); };

absl::Status RealOutput(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const DType in, c.attrs().Type("T"));
  TENON_ASSIGN_OR_RETURN(const DType out, c.attrs().Type("Tout"));
  if (out != (in == DType::kComplex64 ? DType::kFloat : DType::kDouble)) {
    return InvalidArgument("Tout=", Name(out), " for T=", Name(in));
  }
  return UnchangedShape(c);
}

absl::Status ComplexShape(ShapeContext& c) {
  TENON_ASSIGN_OR_RETURN(const DType in, c.attrs().Type("T"));
  TENON_ASSIGN_OR_RETURN(const DType out, c.attrs().Type("Tout"));
  if (out != (in == DType::kFloat ? DType::kComplex64 : DType::kComplex128)) {
    return InvalidArgument("Tout=", Name(out), " for T=", Name(in));
  }
  return BroadcastBinaryShape(c);
}

absl::StatusOr<std::unique_ptr<Kernel>> MakeComplex(PrepareContext& p) {
  const Broadcast space(p.output_shape(0), {p.input_shape(0), p.input_shape(1)});
  return DispatchType(TypeList<float, double>{}, p.input_dtype(0), [&]<typename T>() {
    return MakeKernel([space](RunContext& run) {
      space.ForEachTile([&](const Tile& tile) {
        std::complex<T>* out = run.output<std::complex<T>>(0) + tile.out;
        for (int64_t r = 0; r < tile.rows; ++r) {
          const T* a = run.input<T>(0) + tile.offset[0] + r * tile.row_stride[0];
          const T* b = run.input<T>(1) + tile.offset[1] + r * tile.row_stride[1];
          for (int64_t i = 0; i < tile.cols; ++i) {
            *out++ = {a[i * tile.col_stride[0]], b[i * tile.col_stride[1]]};
          }
        }
        return true;
      });
      return absl::OkStatus();
    });
  });
}

const OpRegistration complex_op({
    .name = "Complex",
    .inputs = "real: T, imag: T",
    .outputs = "out: Tout",
    .attrs = "T: type = float; Tout: type = complex64",
    .types = "T: float double; Tout: complex64 complex128",
    .shape = ComplexShape,
    .reference = MakeComplex,
    .elementwise = true,
});

const OpRegistration real({
    .name = "Real",
    .inputs = "input: T",
    .outputs = "output: Tout",
    .attrs = "T: type = complex64; Tout: type = float",
    .types = "T: complex64 complex128; Tout: float double",
    .shape = RealOutput,
    .reference = Unary<kReal, Complexes>,
    .elementwise = true,
});

const OpRegistration imag({
    .name = "Imag",
    .inputs = "input: T",
    .outputs = "output: Tout",
    .attrs = "T: type = complex64; Tout: type = float",
    .types = "T: complex64 complex128; Tout: float double",
    .shape = RealOutput,
    .reference = Unary<kImag, Complexes>,
    .elementwise = true,
});

const OpRegistration conj({
    .name = "Conj",
    .inputs = "input: T",
    .outputs = "output: T",
    .attrs = "T: type = complex64",
    .types = "T: complex64 complex128",
    .shape = UnchangedShape,
    .reference = Unary<kConj, Complexes>,
    .elementwise = true,
});

const OpRegistration complex_abs({
    .name = "ComplexAbs",
    .inputs = "x: T",
    .outputs = "y: Tout",
    .attrs = "T: type = complex64; Tout: type = float",
    .types = "T: complex64 complex128; Tout: float double",
    .shape = RealOutput,
    .reference = Unary<kAbs, Complexes>,
    .elementwise = true,
});

const OpRegistration angle({
    .name = "Angle",
    .inputs = "input: T",
    .outputs = "output: Tout",
    .attrs = "T: type = complex64; Tout: type = float",
    .types = "T: complex64 complex128; Tout: float double",
    .shape = RealOutput,
    .reference = Unary<kAngle, Complexes>,
    .elementwise = true,
    .error_bound = ErrorBound::kSpecialFunction,
});

}  // namespace
}  // namespace tenon
