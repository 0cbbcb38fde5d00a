// Dawsn, Expint, FresnelCos, FresnelSin, Spence: integrals, each computed in double by its series
// near 0 and by a continued fraction or an asymptotic expansion far from it.
#include "kernels/elementwise/integrals.h"

#include "kernels/elementwise/reference.h"
#include "kernels/elementwise/tabulated.h"
#include "ops/op.h"

namespace tenon {
namespace {

template <double (*f)(double)>
constexpr auto kInDouble =
    [](auto x) { return static_cast<decltype(x)>(f(static_cast<double>(x))); };

const OpRegistration dawsn_op({
    .name = "Dawsn",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double",
    .shape = UnchangedShape,
    .reference = Unary<kInDouble<Dawson>, Floats>,
    .accelerated = TabulatedUnary<kInDouble<Dawson>, Intervals{-8, 7, 32, Symmetry::kOdd}>,
    .native = "_MklNativeDawsn",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kSpecialFunction,
});

const OpRegistration expint_op({
    .name = "Expint",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double",
    .shape = UnchangedShape,
    .reference = Unary<kInDouble<Expint>, Floats>,
    .accelerated = TabulatedUnary<kInDouble<Expint>,
                                  Intervals{-10, 5, 32, Symmetry::kNone, /*has_zeros=*/true}>,
    .native = "_MklNativeExpint",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kSpecialFunction,
});

const OpRegistration fresnel_cos_op({
    .name = "FresnelCos",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double",
    .shape = UnchangedShape,
    .reference = Unary<kInDouble<FresnelCos>, Floats>,
    .accelerated = TabulatedUnary<kInDouble<FresnelCos>, Intervals{-8, 3, 128, Symmetry::kOdd}>,
    .native = "_MklNativeFresnelCos",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kSpecialFunction,
});

const OpRegistration fresnel_sin_op({
    .name = "FresnelSin",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double",
    .shape = UnchangedShape,
    .reference = Unary<kInDouble<FresnelSin>, Floats>,
    .accelerated = TabulatedUnary<kInDouble<FresnelSin>, Intervals{-8, 3, 128, Symmetry::kOdd}>,
    .native = "_MklNativeFresnelSin",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kSpecialFunction,
});

const OpRegistration spence_op({
    .name = "Spence",
    .inputs = "x: T",
    .outputs = "y: T",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double",
    .shape = UnchangedShape,
    .reference = Unary<kInDouble<Spence>, Floats>,
    .accelerated = TabulatedUnary<kInDouble<Spence>,
                                  Intervals{-10, 10, 32, Symmetry::kNone, /*has_zeros=*/true}>,
    .native = "_MklNativeSpence",
    .native_types = "float bfloat16 double",
    .elementwise = true,
    .error_bound = ErrorBound::kSpecialFunction,
});

}  // namespace
}  // namespace tenon
