// IsNan, IsInf, IsFinite.
#include <cmath>

#include "kernels/elementwise/reference.h"
#include "ops/op.h"

namespace tenon {
namespace {

constexpr auto kIsNan = [](auto x) { return std::isnan(x); };
constexpr auto kIsInf = [](auto x) { return std::isinf(x); };
constexpr auto kIsFinite = [](auto x) { return std::isfinite(x); };

const OpRegistration is_nan_op({
    .name = "IsNan",
    .inputs = "x: T",
    .outputs = "y: bool",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double",
    .shape = UnchangedShape,
    .reference = Unary<kIsNan, Floats>,
    .elementwise = true,
});

const OpRegistration is_inf_op({
    .name = "IsInf",
    .inputs = "x: T",
    .outputs = "y: bool",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double",
    .shape = UnchangedShape,
    .reference = Unary<kIsInf, Floats>,
    .elementwise = true,
});

const OpRegistration is_finite_op({
    .name = "IsFinite",
    .inputs = "x: T",
    .outputs = "y: bool",
    .attrs = "T: type",
    .types = "T: bfloat16 half float double",
    .shape = UnchangedShape,
    .reference = Unary<kIsFinite, Floats>,
    .elementwise = true,
});

}  // namespace
}  // namespace tenon
