// GELU, x * Phi(x) with the cumulative normal distribution Phi: by the error function, or
// approximated as 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
//
// In this phase, divisions by constants have become products, and x * x is Square(x).
#include "graph_rewrite/rule.h"
#include "graph_rewrite/rules/alternatives.h"

namespace tenon {
namespace {

// %y = 0.5 * %x * %g.
const std::vector<std::string> kHalfProduct = {
    "%h = Mul(%x, 0.5) %y = Mul(%h, %g)",
    "%h = Mul(%x, %g) %y = Mul(%h, 0.5)",
    "%h = Mul(%g, 0.5) %y = Mul(%x, %h)",
};

// erf(x / sqrt 2) and erfc(-x / sqrt 2).
const std::vector<std::string> kErf = {
    "%u = Mul(%x, 0.70710678) %e = Erf(%u) ",
};
const std::vector<std::string> kErfc = {
    "%n = Neg(%x) %u = Mul(%n, 0.70710678) %g = Erfc(%u) ",
    "%u = Mul(%x, -0.70710678) %g = Erfc(%u) ",
    "%n = Mul(%x, 0.70710678) %u = Neg(%n) %g = Erfc(%u) ",
};

const RuleRegistration by_erf({
    .name = "FuseGeluErf",
    .doc = "0.5 * x * (1 + erf(x / sqrt(2)))",
    .phase = Phase::kFuse,
    .pattern = Alternatives({kErf, {"%g = AddV2(%e, 1) "}, kHalfProduct}),
    .replacement = "%y = _GeluExact(%x)",
});

const RuleRegistration by_half_erf({
    .name = "FuseGeluHalfErf",
    .doc = "x * (0.5 + 0.5 * erf(x / sqrt(2)))",
    .phase = Phase::kFuse,
    .pattern = Alternatives({kErf, {"%h = Mul(%e, 0.5) %g = AddV2(%h, 0.5) %y = Mul(%x, %g)"}}),
    .replacement = "%y = _GeluExact(%x)",
});

const RuleRegistration by_erfc({
    .name = "FuseGeluErfc",
    .doc = "0.5 * x * erfc(-x / sqrt(2))",
    .phase = Phase::kFuse,
    .pattern = Alternatives({kErfc, kHalfProduct}),
    .replacement = "%y = _GeluExact(%x)",
});

// 0.044715 x^3, then sqrt(2 / pi) (x + that).
const std::vector<std::string> kCubic = {
    "%s = Pow(%x, 3) %c = Mul(%s, 0.044715) ",
    "%s = Square(%x) %p = Mul(%s, %x) %c = Mul(%p, 0.044715) ",
    "%s = Square(%x) %p = Mul(%s, 0.044715) %c = Mul(%p, %x) ",
    "%s = Mul(%x, 0.044715) %p = Mul(%s, %x) %c = Mul(%p, %x) ",
};
const std::vector<std::string> kSum = {"%a = AddV2(%x, %c) %t = Mul(%a, 0.79788456) "};
// 1 + 0.044715 x^2, then sqrt(2 / pi) x times that.
const std::vector<std::string> kQuadratic = {
    "%s = Square(%x) %p = Mul(%s, 0.044715) %q = AddV2(%p, 1) ",
    "%s = Mul(%x, 0.044715) %p = Mul(%s, %x) %q = AddV2(%p, 1) ",
};
const std::vector<std::string> kScaled = {
    "%k = Mul(%x, 0.79788456) %t = Mul(%k, %q) ",
    "%k = Mul(%q, 0.79788456) %t = Mul(%k, %x) ",
    "%k = Mul(%x, %q) %t = Mul(%k, 0.79788456) ",
};
// The same with the root folded in: x * (0.79788456 + 0.0356774081 x^2).
const std::vector<std::string> kFolded = {
    "%s = Square(%x) %p = Mul(%s, 0.0356774081) %q = AddV2(%p, 0.79788456) %t = Mul(%q, %x) ",
};
const std::vector<std::string> kTanh = {"%z = Tanh(%t) %g = AddV2(%z, 1) "};

// With a half folded into the sum: x * (0.5 + 0.5 tanh).
const std::vector<std::string> kHalfTanh = {
    "%z = Tanh(%t) %h = Mul(%z, 0.5) %g = AddV2(%h, 0.5) %y = Mul(%x, %g)"};

const RuleRegistration by_cube({
    .name = "FuseGeluTanh",
    .doc = "0.5 * x * (1 + tanh(0.79788456 * (x + 0.044715 * x^3)))",
    .phase = Phase::kFuse,
    .pattern = Either(Alternatives({kCubic, kSum, kTanh, kHalfProduct}),
                      Alternatives({kCubic, kSum, kHalfTanh})),
    .replacement = "%y = _GeluApproximate(%x)",
});

const RuleRegistration by_square({
    .name = "FuseGeluTanhSquare",
    .doc = "0.5 * x * (1 + tanh(0.79788456 * x * (1 + 0.044715 * x^2)))",
    .phase = Phase::kFuse,
    .pattern = Either(Alternatives({kQuadratic, kScaled, kTanh, kHalfProduct}),
                      Alternatives({kQuadratic, kScaled, kHalfTanh}),
                      Alternatives({kFolded, kTanh, kHalfProduct}),
                      Alternatives({kFolded, kHalfTanh})),
    .replacement = "%y = _GeluApproximate(%x)",
});

}  // namespace
}  // namespace tenon
