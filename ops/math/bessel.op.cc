// Modified Bessel functions I0, I1, K0, K1 (with e: scaled by an exponential), and J0, J1, Y0, Y1.
#include <Eigen/Core>
#include <unsupported/Eigen/SpecialFunctions>

#include "kernels/elementwise/reference.h"
#include "kernels/elementwise/tabulated.h"
#include "ops/op.h"

namespace tenon {
namespace {

// J and Y oscillate, so that intervals must not be longer than 1. Those of I end earlier: it grows
// as exp(x), and a point of interpolation that is rounded moves its value by x roundings.
constexpr int kParts = 32;
constexpr auto kI0 = [](auto x) { return Eigen::numext::bessel_i0(x); };
constexpr auto kI0e = [](auto x) { return Eigen::numext::bessel_i0e(x); };
constexpr auto kI1 = [](auto x) { return Eigen::numext::bessel_i1(x); };
constexpr auto kI1e = [](auto x) { return Eigen::numext::bessel_i1e(x); };
constexpr auto kJ0 = [](auto x) { return Eigen::numext::bessel_j0(x); };
constexpr auto kJ1 = [](auto x) { return Eigen::numext::bessel_j1(x); };
constexpr auto kK0 = [](auto x) { return Eigen::numext::bessel_k0(x); };
constexpr auto kK0e = [](auto x) { return Eigen::numext::bessel_k0e(x); };
constexpr auto kK1 = [](auto x) { return Eigen::numext::bessel_k1(x); };
constexpr auto kK1e = [](auto x) { return Eigen::numext::bessel_k1e(x); };
constexpr auto kY0 = [](auto x) { return Eigen::numext::bessel_y0(x); };
constexpr auto kY1 = [](auto x) { return Eigen::numext::bessel_y1(x); };

const OpRegistration bessel_i0_op({
    .name = "BesselI0",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double",
    .shape = UnchangedShape,
    .reference = Unary<kI0, Floats>,
    .accelerated = TabulatedUnary<kI0, Intervals{-8, 5, kParts, Symmetry::kEven}>,
    .native = "_MklNativeBesselI0",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kSpecialFunction,
});

const OpRegistration bessel_i0e_op({
    .name = "BesselI0e",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double",
    .shape = UnchangedShape,
    .reference = Unary<kI0e, Floats>,
    .accelerated = TabulatedUnary<kI0e, Intervals{-8, 7, kParts, Symmetry::kEven}>,
    .native = "_MklNativeBesselI0e",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kSpecialFunction,
});

const OpRegistration bessel_i1_op({
    .name = "BesselI1",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double",
    .shape = UnchangedShape,
    .reference = Unary<kI1, Floats>,
    .accelerated = TabulatedUnary<kI1, Intervals{-8, 5, kParts, Symmetry::kOdd}>,
    .native = "_MklNativeBesselI1",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kSpecialFunction,
});

const OpRegistration bessel_i1e_op({
    .name = "BesselI1e",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double",
    .shape = UnchangedShape,
    .reference = Unary<kI1e, Floats>,
    .accelerated = TabulatedUnary<kI1e, Intervals{-8, 7, kParts, Symmetry::kOdd}>,
    .native = "_MklNativeBesselI1e",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kSpecialFunction,
});

const OpRegistration bessel_j0_op({
    .name = "BesselJ0",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double",
    .shape = UnchangedShape,
    .reference = Unary<kJ0, Floats>,
    .accelerated = TabulatedUnary<kJ0, Intervals{-8, 6, kParts, Symmetry::kEven}>,
    .native = "_MklNativeBesselJ0",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kSpecialFunction,
});

const OpRegistration bessel_j1_op({
    .name = "BesselJ1",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double",
    .shape = UnchangedShape,
    .reference = Unary<kJ1, Floats>,
    .accelerated = TabulatedUnary<kJ1, Intervals{-8, 6, kParts, Symmetry::kOdd}>,
    .native = "_MklNativeBesselJ1",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kSpecialFunction,
});

const OpRegistration bessel_k0_op({
    .name = "BesselK0",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double",
    .shape = UnchangedShape,
    .reference = Unary<kK0, Floats>,
    .accelerated = TabulatedUnary<kK0, Intervals{-10, 6, kParts, Symmetry::kNone}>,
    .native = "_MklNativeBesselK0",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kSpecialFunction,
});

const OpRegistration bessel_k0e_op({
    .name = "BesselK0e",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double",
    .shape = UnchangedShape,
    .reference = Unary<kK0e, Floats>,
    .accelerated = TabulatedUnary<kK0e, Intervals{-10, 7, kParts, Symmetry::kNone}>,
    .native = "_MklNativeBesselK0e",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kSpecialFunction,
});

const OpRegistration bessel_k1_op({
    .name = "BesselK1",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double",
    .shape = UnchangedShape,
    .reference = Unary<kK1, Floats>,
    .accelerated = TabulatedUnary<kK1, Intervals{-10, 6, kParts, Symmetry::kNone}>,
    .native = "_MklNativeBesselK1",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kSpecialFunction,
});

const OpRegistration bessel_k1e_op({
    .name = "BesselK1e",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double",
    .shape = UnchangedShape,
    .reference = Unary<kK1e, Floats>,
    .accelerated = TabulatedUnary<kK1e, Intervals{-10, 7, kParts, Symmetry::kNone}>,
    .native = "_MklNativeBesselK1e",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kSpecialFunction,
});

const OpRegistration bessel_y0_op({
    .name = "BesselY0",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double",
    .shape = UnchangedShape,
    .reference = Unary<kY0, Floats>,
    .accelerated = TabulatedUnary<kY0, Intervals{-10, 6, kParts, Symmetry::kNone}>,
    .native = "_MklNativeBesselY0",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kSpecialFunction,
});

const OpRegistration bessel_y1_op({
    .name = "BesselY1",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double",
    .shape = UnchangedShape,
    .reference = Unary<kY1, Floats>,
    .accelerated = TabulatedUnary<kY1, Intervals{-10, 6, kParts, Symmetry::kNone}>,
    .native = "_MklNativeBesselY1",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kSpecialFunction,
});

}  // namespace
}  // namespace tenon
