// Modified Bessel functions I0, I1, K0, K1 (with e: scaled by an exponential), and J0, J1, Y0, Y1.
#include <Eigen/Core>
#include <unsupported/Eigen/SpecialFunctions>

#include "kernels/elementwise/reference.h"
#include "ops/op.h"

namespace tenon {
namespace {

const OpRegistration bessel_i0_op({
    .name = "BesselI0",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double",
    .shape = UnchangedShape,
    .reference = Unary<[](auto x) { return Eigen::numext::bessel_i0(x); }, Floats>,
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
    .reference = Unary<[](auto x) { return Eigen::numext::bessel_i0e(x); }, Floats>,
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
    .reference = Unary<[](auto x) { return Eigen::numext::bessel_i1(x); }, Floats>,
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
    .reference = Unary<[](auto x) { return Eigen::numext::bessel_i1e(x); }, Floats>,
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
    .reference = Unary<[](auto x) { return Eigen::numext::bessel_j0(x); }, Floats>,
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
    .reference = Unary<[](auto x) { return Eigen::numext::bessel_j1(x); }, Floats>,
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
    .reference = Unary<[](auto x) { return Eigen::numext::bessel_k0(x); }, Floats>,
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
    .reference = Unary<[](auto x) { return Eigen::numext::bessel_k0e(x); }, Floats>,
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
    .reference = Unary<[](auto x) { return Eigen::numext::bessel_k1(x); }, Floats>,
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
    .reference = Unary<[](auto x) { return Eigen::numext::bessel_k1e(x); }, Floats>,
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
    .reference = Unary<[](auto x) { return Eigen::numext::bessel_y0(x); }, Floats>,
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
    .reference = Unary<[](auto x) { return Eigen::numext::bessel_y1(x); }, Floats>,
    .elementwise = true,
    .error_bound = ErrorBound::kSpecialFunction,
});

}  // namespace
}  // namespace tenon
